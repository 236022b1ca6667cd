#include "training/libtorch/image_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace orrery {
namespace {

constexpr std::uint32_t kImageMagic = 0x803, kLabelMagic = 0x801;
constexpr std::int64_t kLargestSide = 4096, kMostImages = 100'000'000;

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

Status check_magic(std::string_view bytes, std::uint32_t wanted, std::size_t header) {
  if (bytes.starts_with("\x1f\x8b")) return invalid("is compressed: unpack it with gunzip");
  if (bytes.size() < header) return invalid("ends within its header");
  if (const std::uint32_t magic = big_endian(bytes, 0); magic != wanted) {
    return invalid(fmt::format("begins with {:#010x} instead of {:#010x}", magic, wanted));
  }
  return {};
}

Status check_length(std::string_view bytes, std::size_t header, std::int64_t wanted) {
  const auto held = static_cast<std::int64_t>(bytes.size() - header);
  if (held == wanted) return {};
  return invalid(fmt::format("holds {} bytes behind its header, which speaks of {}", held, wanted));
}

// Takes numbers within {"data": [[...]]} and nothing else.
class ImageListener : public nlohmann::json_sax<nlohmann::json> {
 public:
  ImageListener(ImageRun& run, std::string& fault) : run_(run), fault_(fault) {}

  bool number_integer(number_integer_t) override { return refuse("a pixel below 0"); }
  bool number_unsigned(number_unsigned_t value) override {
    if (arrays_ != 2) return refuse("a number outside an image");
    if (value > 255) return refuse("a pixel above 255");
    run_.pixels.push_back(static_cast<std::uint8_t>(value));
    return true;
  }
  bool start_array(std::size_t) override {
    if (!within_data_ || ++arrays_ > 2) return refuse("an array where none belongs");
    begin_ = run_.pixels.size();
    return true;
  }
  bool end_array() override {
    if (--arrays_ != 1) return true;
    const auto held = static_cast<std::int64_t>(run_.pixels.size() - begin_);
    if (held == 0) return true;
    if (held != run_.rows * run_.columns) {
      return refuse(fmt::format("image {} has {} pixels", run_.count, held));
    }
    ++run_.count;
    return true;
  }
  bool start_object(std::size_t) override {
    return !std::exchange(within_object_, true) || refuse("an object where none belongs");
  }
  bool end_object() override { return true; }
  bool key(string_t& name) override {
    if (name != "data" || std::exchange(within_data_, true)) return refuse("more than one 'data'");
    return true;
  }
  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a truth value"); }
  bool number_float(number_float_t, const string_t&) override { return refuse("a fraction"); }
  bool string(string_t&) override { return refuse("a text"); }
  bool binary(binary_t&) override { return refuse("bytes"); }
  bool parse_error(std::size_t place, const std::string&,
                   const nlohmann::detail::exception&) override {
    return refuse(fmt::format("no JSON from byte {} on", place));
  }

 private:
  bool refuse(std::string why) {
    if (fault_.empty()) fault_ = std::move(why);
    return false;
  }

  ImageRun& run_;
  std::string& fault_;
  std::size_t begin_ = 0;
  int arrays_ = 0;
  bool within_object_ = false, within_data_ = false;
};

}  // namespace

Result<ImageRun> parse_idx_images(std::string_view bytes) {
  constexpr std::size_t kHeader = 16;
  TRY(check_magic(bytes, kImageMagic, kHeader));
  ImageRun run{.count = big_endian(bytes, 4),
               .rows = big_endian(bytes, 8),
               .columns = big_endian(bytes, 12)};
  const auto side = [](std::int64_t length) { return length >= 1 && length <= kLargestSide; };
  if (run.count < 1 || run.count > kMostImages || !side(run.rows) || !side(run.columns)) {
    return invalid(fmt::format("speaks of {} images of {} x {}", run.count, run.rows, run.columns));
  }
  TRY(check_length(bytes, kHeader, run.count * run.rows * run.columns));
  run.pixels.assign(bytes.begin() + kHeader, bytes.end());
  return run;
}

Result<std::vector<std::uint8_t>> parse_idx_labels(std::string_view bytes, int classes) {
  constexpr std::size_t kHeader = 8;
  TRY(check_magic(bytes, kLabelMagic, kHeader));
  TRY(check_length(bytes, kHeader, big_endian(bytes, 4)));
  std::vector<std::uint8_t> labels(bytes.begin() + kHeader, bytes.end());
  const auto wrong =
      std::find_if(labels.begin(), labels.end(), [&](int label) { return label >= classes; });
  if (wrong != labels.end()) {
    return invalid(fmt::format("label {} is {}, and there are {} classes", wrong - labels.begin(),
                               *wrong, classes));
  }
  return labels;
}

Result<ImageRun> parse_json_images(std::string_view text, std::int64_t rows, std::int64_t columns) {
  ImageRun run{.rows = rows, .columns = columns};
  std::string fault;
  ImageListener listener(run, fault);
  const bool read = nlohmann::json::sax_parse(text.begin(), text.end(), &listener);
  if (!read) return invalid("no list of images: " + fault);
  if (run.count == 0) return invalid("holds no image");
  return run;
}

}  // namespace orrery
