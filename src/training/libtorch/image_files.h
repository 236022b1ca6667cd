#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery {

// Grey images, one after the other, row by row.
struct ImageRun {
  std::int64_t count = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::uint8_t> pixels{};
};

// The IDX files that MNIST comes in. What does not hold exactly as much as its header says is
// refused, and so are labels that are not below `classes`.
Result<ImageRun> parse_idx_images(std::string_view bytes);
Result<std::vector<std::uint8_t>> parse_idx_labels(std::string_view bytes, int classes);

// {"data": [[pixel, ...], ...]}, each image as long as rows x columns; empty ones are passed over.
Result<ImageRun> parse_json_images(std::string_view text, std::int64_t rows, std::int64_t columns);

}  // namespace orrery
