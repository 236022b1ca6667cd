#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"
#include "training/libtorch/dataset.h"

namespace orrery {
namespace {

constexpr int kClasses = 10;
constexpr int kSide = 8;
constexpr int kValues = kSide * kSide;
constexpr int kImageSide = 28;
using Values = std::array<float, kValues>;

Values noise(Random& random) {
  Values values{};
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

// Where a pixel of the large image lies between two of the small one's.
struct Between {
  int low = 0;
  float high_share = 0;
};
Between between(int pixel) {
  const float at = static_cast<float>(pixel) * (kSide - 1) / (kImageSide - 1);
  const int low = std::min(static_cast<int>(at), kSide - 2);
  return {low, at - static_cast<float>(low)};
}

// The values as a grid of 8 x 8, enlarged to an image, three deviations to either side of grey.
void append_image(const Values& values, std::vector<std::uint8_t>& bytes) {
  static const auto places = [] {
    std::array<Between, kImageSide> made{};
    for (int pixel = 0; pixel < kImageSide; ++pixel) {
      made[static_cast<std::size_t>(pixel)] = between(pixel);
    }
    return made;
  }();
  for (const Between& row : places) {
    const float* upper = &values[static_cast<std::size_t>(row.low * kSide)];
    for (const Between& column : places) {
      const float* left = upper + column.low;
      const float above = left[0] + column.high_share * (left[1] - left[0]);
      const float below = left[kSide] + column.high_share * (left[kSide + 1] - left[kSide]);
      const float value = above + row.high_share * (below - above);
      bytes.push_back(static_cast<std::uint8_t>(std::clamp(128.0F + 42.0F * value, 0.0F, 255.0F)));
    }
  }
}

// `draw` gives a sample's values and says its label.
template <class Draw>
DataPart draw_part(std::int64_t count, SampleKind wanted, Draw draw) {
  DataPart part{.count = count};
  for (std::int64_t sample = 0; sample < count; ++sample) {
    int label = 0;
    const Values values = draw(label);
    part.labels.push_back(static_cast<std::uint8_t>(label));
    if (wanted == SampleKind::Images) {
      append_image(values, part.bytes);
    } else {
      part.values.insert(part.values.end(), values.begin(), values.end());
    }
  }
  return part;
}

template <class Draw>
Dataset draw_set(SampleKind wanted, Draw draw) {
  Dataset set{.kind = wanted, .shape = {kValues}, .classes = kClasses};
  if (wanted == SampleKind::Images) {
    set.shape = {1, kImageSide, kImageSide};
    set.mean = 128;
    set.deviation = 42;
  }
  set.train = draw_part(20000, wanted, draw);
  set.test = draw_part(2000, wanted, draw);
  return set;
}

}  // namespace

Dataset make_gaussian_set(std::uint64_t seed, SampleKind wanted) {
  Random random(seed ^ 0x6761757373ULL);
  // At this distance the best classifier is right about nine times in ten.
  constexpr float kSpread = 0.35F;
  std::array<Values, kClasses> centres{};
  for (Values& centre : centres) centre = noise(random);
  return draw_set(wanted, [&](int& label) {
    label = static_cast<int>(random.between(0, kClasses - 1));
    Values values = noise(random);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += kSpread * centres[static_cast<std::size_t>(label)][i];
    }
    return values;
  });
}

Dataset make_teacher_set(std::uint64_t seed, SampleKind wanted) {
  Random random(seed ^ 0x74656163686572ULL);
  constexpr std::size_t kHidden = 24;
  std::array<Values, kHidden> first{};
  for (Values& row : first) row = noise(random);
  std::array<std::array<float, kHidden>, kClasses> second{};
  for (auto& row : second) {
    for (float& weight : row) weight = static_cast<float>(random.normal());
  }
  return draw_set(wanted, [&](int& label) {
    const Values values = noise(random);
    std::array<float, kHidden> hidden{};
    for (std::size_t unit = 0; unit < kHidden; ++unit) {
      float sum = 0;
      for (std::size_t i = 0; i < values.size(); ++i) sum += first[unit][i] * values[i];
      hidden[unit] = std::tanh(sum / kSide);
    }
    float best = -1e30F;
    for (std::size_t answer = 0; answer < kClasses; ++answer) {
      float sum = 0;
      for (std::size_t unit = 0; unit < kHidden; ++unit) sum += second[answer][unit] * hidden[unit];
      if (sum > best) best = sum, label = static_cast<int>(answer);
    }
    return values;
  });
}

}  // namespace orrery
