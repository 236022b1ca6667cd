#include <algorithm>
#include <array>

#include "training/libtorch/dataset.h"

namespace orrery {
namespace {

constexpr std::int64_t kLength = 32;  // characters of a sample
constexpr std::int64_t kTestSamples = 1000;

// As many whole samples as there are, from `first` on.
DataPart cut(const std::vector<std::uint8_t>& characters, std::int64_t first, std::int64_t count) {
  const auto begin = characters.begin() + first;
  return {.count = count, .bytes = {begin, begin + count * kLength + 1}};
}

}  // namespace

Result<Dataset> text_set(std::string_view text) {
  std::array<bool, 256> seen{};
  for (const char character : text) seen[static_cast<std::uint8_t>(character)] = true;
  std::array<std::uint8_t, 256> number{};
  int characters = 0;
  for (std::size_t byte = 0; byte < seen.size(); ++byte) {
    if (seen[byte]) number[byte] = static_cast<std::uint8_t>(characters++);
  }
  const std::int64_t samples = (static_cast<std::int64_t>(text.size()) - 2) / kLength;
  if (samples < 10 || characters < 2) {
    return invalid("a text to learn from has at least " + std::to_string(10 * kLength + 2) +
                   " characters, not all the same");
  }
  std::vector<std::uint8_t> numbers(text.size());
  std::transform(text.begin(), text.end(), numbers.begin(),
                 [&](char character) { return number[static_cast<std::uint8_t>(character)]; });
  Dataset set{.kind = SampleKind::Characters, .shape = {kLength}, .classes = characters};
  // The last tenth is for the test, of which a thousand samples are enough to judge by.
  const std::int64_t train = samples - samples / 10;
  set.train = cut(numbers, 0, train);
  set.test = cut(numbers, train * kLength + 1, std::min(samples / 10, kTestSamples));
  return set;
}

}  // namespace orrery
