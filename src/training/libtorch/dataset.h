#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery {

enum class SampleKind { Vectors, Images, Characters };

// Some samples, one after the other. Vectors are floats; images are bytes, row by row; characters
// are bytes below `classes`, in one run that is one longer than count x length, and the label of
// each is the next one.
struct DataPart {
  std::int64_t count = 0;
  std::vector<float> values{};
  std::vector<std::uint8_t> bytes{};
  std::vector<std::uint8_t> labels{};
};

struct Dataset {
  SampleKind kind = SampleKind::Vectors;
  std::vector<std::int64_t> shape{};  // of one sample: {64}, {1, 28, 28}, {32}
  int classes = 0;
  float mean = 0;  // of the bytes of images, and how far they spread
  float deviation = 1;
  DataPart train{};
  DataPart test{};
};

struct DatasetOptions {
  std::string name{};
  std::string folder{};  // where `make data` puts things
  std::uint64_t seed = 1;
  SampleKind wanted = SampleKind::Vectors;  // what the model can be fed with
};

// The set of that name (learner_data()). Generated ones depend on the seed alone, and come as
// vectors or images as is wanted; the others are what they are.
Result<Dataset> load_dataset(const DatasetOptions& options);

// One Gaussian cloud for each class, near enough to each other to overlap.
Dataset make_gaussian_set(std::uint64_t seed, SampleKind wanted);
// Gaussian noise, labelled by a random network.
Dataset make_teacher_set(std::uint64_t seed, SampleKind wanted);
// Sentences of a made-up language: words of its own, whose endings agree.
Dataset make_grammar_set(std::uint64_t seed);
// Characters of a text; the last tenth is for the test.
Result<Dataset> text_set(std::string_view text);

}  // namespace orrery
