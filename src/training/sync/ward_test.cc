#include "training/sync/ward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace orrery {
namespace {

using Groups = std::vector<std::vector<std::size_t>>;

TEST(Ward, PutsSimilarTimesTogetherWhateverTheUnit) {
  const std::vector<double> ms{100, 410, 104, 102, 395, 98};
  const Groups expected{{5, 0, 3, 2}, {4, 1}};
  EXPECT_EQ(ward_groups(ms), expected);
  std::vector<double> hours;
  for (const double value : ms) hours.push_back(value / 3.6e6);
  EXPECT_EQ(ward_groups(hours), expected);
}

TEST(Ward, EqualTimesAreOneGroup) {
  EXPECT_EQ(ward_groups(std::vector<double>{5, 5, 5}), (Groups{{0, 1, 2}}));
  EXPECT_EQ(ward_groups(std::vector<double>{7}), (Groups{{0}}));
  EXPECT_TRUE(ward_groups({}).empty());
}

TEST(Ward, ADistanceOfTheThresholdDoesNotJoin) {
  // Two values: the distance is their difference, sqrt(2 * 1 / 2) = 1 times; the median 100.
  EXPECT_EQ(ward_groups(std::vector<double>{95, 105}, 0.1).size(), 2u);
  EXPECT_EQ(ward_groups(std::vector<double>{95, 105}, 0.11).size(), 1u);
}

TEST(Ward, LargeGroupsAreFurtherApartThanTheirMeansSay) {
  // Four at 94 and four at 106: sqrt(2 * 16 / 8) = 2 times 12, of a median of 100.
  const std::vector<double> values{94, 94, 94, 94, 106, 106, 106, 106};
  EXPECT_EQ(ward_groups(values, 0.23).size(), 2u);
  EXPECT_EQ(ward_groups(values, 0.25).size(), 1u);
}

// All pairs of groups looked at, in the textbook's way.
Groups by_all_pairs(const std::vector<double>& values, double limit) {
  Groups groups;
  for (std::size_t i = 0; i < values.size(); ++i) groups.push_back({i});
  const auto mean = [&](const std::vector<std::size_t>& group) {
    double sum = 0;
    for (const std::size_t i : group) sum += values[i];
    return sum / static_cast<double>(group.size());
  };
  while (groups.size() > 1) {
    double least = 1e300;
    std::pair<std::size_t, std::size_t> pair;
    for (std::size_t a = 0; a < groups.size(); ++a) {
      for (std::size_t b = a + 1; b < groups.size(); ++b) {
        const auto in_a = static_cast<double>(groups[a].size());
        const auto in_b = static_cast<double>(groups[b].size());
        const double distance = std::sqrt(2 * in_a * in_b / (in_a + in_b)) *
                                std::abs(mean(groups[a]) - mean(groups[b]));
        if (distance < least) {
          least = distance;
          pair = {a, b};
        }
      }
    }
    if (least >= limit) break;
    auto& into = groups[pair.first];
    const auto& from = groups[pair.second];
    into.insert(into.end(), from.begin(), from.end());
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(pair.second));
  }
  for (auto& group : groups) {
    std::ranges::sort(group, {}, [&](std::size_t i) { return values[i]; });
  }
  std::ranges::sort(groups, {}, mean);
  return groups;
}

TEST(Ward, NeighboursAreAllThatNeedsToBeLookedAt) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> values;
    for (std::int64_t n = random.between(1, 12); n > 0; --n) values.push_back(1 + random.uniform());
    std::vector<double> sorted = values;
    std::ranges::sort(sorted);
    const std::size_t half = sorted.size() / 2;
    const double median =
        sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    EXPECT_EQ(ward_groups(values, 0.3), by_all_pairs(values, 0.3 * median)) << round;
  }
}

}  // namespace
}  // namespace orrery
