#include "training/libtorch/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/files.h"
#include "training/libtorch/image_files.h"
#include "training/libtorch/learner.h"

namespace orrery {
namespace {

constexpr std::size_t kLargestData = std::size_t{2} << 30;
constexpr int kImageClasses = 10;
constexpr std::int64_t kJsonSide = 28;

Error with_advice(Error error, const std::string& path) {
  error.message += "; `make data` fetches it again";
  // The system's own messages name the file already.
  return error.message.starts_with(path) ? std::move(error) : std::move(error).at(path);
}

// A file of the data folder, through `parse`.
template <class Parse>
auto parsed(const std::string& path, Parse parse) -> decltype(parse(std::string_view())) {
  auto bytes = read_file(path, kLargestData);
  if (!bytes.ok()) return with_advice(std::move(bytes).error(), path);
  auto result = parse(std::string_view(bytes.value()));
  if (!result.ok()) return with_advice(std::move(result).error(), path);
  return result;
}

Result<DataPart> idx_part(const std::string& stem, ImageRun& shape) {
  TRY_ASSIGN(shape, parsed(stem + "-images-idx3-ubyte", parse_idx_images));
  const std::string labels_path = stem + "-labels-idx1-ubyte";
  TRY_ASSIGN(auto labels, parsed(labels_path, [](std::string_view bytes) {
               return parse_idx_labels(bytes, kImageClasses);
             }));
  if (static_cast<std::int64_t>(labels.size()) != shape.count) {
    return with_advice(invalid(fmt::format("{} labels for {} images", labels.size(), shape.count)),
                       labels_path);
  }
  return DataPart{
      .count = shape.count, .bytes = std::exchange(shape.pixels, {}), .labels = std::move(labels)};
}

Dataset image_set(std::int64_t rows, std::int64_t columns, DataPart train, DataPart test) {
  double sum = 0, squares = 0;
  for (const std::uint8_t pixel : train.bytes) {
    sum += pixel;
    squares += double{1} * pixel * pixel;
  }
  const auto count = static_cast<double>(train.bytes.size());
  const double mean = sum / count, variance = squares / count - mean * mean;
  return {.kind = SampleKind::Images,
          .shape = {1, rows, columns},
          .classes = kImageClasses,
          .mean = static_cast<float>(mean),
          .deviation = static_cast<float>(std::sqrt(std::max(variance, 1.0))),
          .train = std::move(train),
          .test = std::move(test)};
}

Result<Dataset> idx_set(const std::string& folder) {
  ImageRun train_shape, test_shape;
  TRY_ASSIGN(DataPart train, idx_part(folder + "/train", train_shape));
  TRY_ASSIGN(DataPart test, idx_part(folder + "/t10k", test_shape));
  if (train_shape.rows != test_shape.rows || train_shape.columns != test_shape.columns) {
    return with_advice(invalid("images for training and for the test differ in size"), folder);
  }
  return image_set(train_shape.rows, train_shape.columns, std::move(train), std::move(test));
}

void append(DataPart& part, const ImageRun& run, std::int64_t first, std::int64_t end, int label) {
  const std::int64_t size = run.rows * run.columns;
  part.count += end - first;
  part.bytes.insert(part.bytes.end(), run.pixels.begin() + first * size,
                    run.pixels.begin() + end * size);
  part.labels.insert(part.labels.end(), static_cast<std::size_t>(end - first),
                     static_cast<std::uint8_t>(label));
}

// One file for each class; the last seventh of each is for the test, as in the IDX files.
Result<Dataset> json_set(const std::string& folder) {
  DataPart train, test;
  for (int label = 0; label < kImageClasses; ++label) {
    TRY_ASSIGN(const ImageRun run,
               parsed(fmt::format("{}/{}.json", folder, label), [](std::string_view text) {
                 return parse_json_images(text, kJsonSide, kJsonSide);
               }));
    const std::int64_t split = run.count - run.count / 7;
    append(train, run, 0, split, label);
    append(test, run, split, run.count, label);
  }
  return image_set(kJsonSide, kJsonSide, std::move(train), std::move(test));
}

// The file as it is named, else in the data folder.
Result<Dataset> text_file_set(const std::string& name, const std::string& folder) {
  std::error_code ignored;
  const bool here = std::filesystem::exists(name, ignored);
  const std::string path = here || folder.empty() ? name : folder + "/" + name;
  TRY_ASSIGN(const std::string text, read_file(path, kLargestData));
  auto set = text_set(text);
  if (!set.ok()) return std::move(set).error().at(path);
  return set;
}

Result<Dataset> real_images(const DatasetOptions& options) {
  if (options.folder.empty()) {
    return invalid("data " + options.name +
                   ": there is no build/data here; fetch it with `make data`, or say where it is "
                   "with --data-folder");
  }
  const std::string folder = options.folder + "/" + options.name;
  std::error_code ignored;
  if (std::filesystem::exists(folder + "/0.json", ignored)) return json_set(folder);
  return idx_set(folder);
}

}  // namespace

std::vector<std::string> learner_data() {
  return {"gaussian", "teacher", "grammar", "mnist", "fashion-mnist", "text:FILE"};
}

Result<Dataset> load_dataset(const DatasetOptions& options) {
  const std::string& name = options.name;
  const SampleKind form =
      options.wanted == SampleKind::Images ? SampleKind::Images : SampleKind::Vectors;
  if (name == "gaussian") return make_gaussian_set(options.seed, form);
  if (name == "teacher") return make_teacher_set(options.seed, form);
  if (name == "grammar") return make_grammar_set(options.seed);
  if (name == "mnist" || name == "fashion-mnist") return real_images(options);
  if (name.starts_with("text:")) return text_file_set(name.substr(5), options.folder);
  std::string names;
  for (const std::string& known : learner_data()) names += (names.empty() ? "" : ", ") + known;
  return invalid("no data '" + name + "'; there are: " + names);
}

}  // namespace orrery
