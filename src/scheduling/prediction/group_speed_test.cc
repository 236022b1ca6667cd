#include "scheduling/prediction/group_speed.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace orrery {
namespace {

std::vector<StageProfile> muri_like(int profiles) {
  Random random(1);
  std::vector<StageProfile> made(static_cast<std::size_t>(profiles));
  for (StageProfile& profile : made) {
    profile = {{random.uniform(), random.uniform(), random.uniform()}, {2, 1, 1}};
  }
  return made;
}

double direct(const std::vector<StageProfile>& profiles, const std::vector<ProfileId>& group,
              Ordering ordering) {
  std::vector<const StageProfile*> members;
  for (const ProfileId id : group) members.push_back(&profiles[index(id)]);
  return interleave(members, ordering).cycle_s;
}

TEST(ContentionModel, HasMurisFactorsAndRepeatsTheLast) {
  const ContentionModel model;
  EXPECT_DOUBLE_EQ(model.factor(1), 1);
  EXPECT_DOUBLE_EQ(model.factor(2), 1.33 / 1.015);
  EXPECT_DOUBLE_EQ(model.factor(3), 1.5 / 1.015);
  EXPECT_DOUBLE_EQ(model.factor(4), 1.37 / 1.015);
  EXPECT_DOUBLE_EQ(model.factor(7), 1.37 / 1.015);
}

TEST(GroupSpeed, RemembersEveryGroupOnceWhateverTheOrderOfItsMembers) {
  const auto profiles = muri_like(60);
  GroupSpeed speed(profiles, Ordering::Best);
  const auto ask_all = [&] {
    for (int a = 0; a < 60; ++a) {
      for (int b = 0; b < 60; ++b) {
        const std::vector<ProfileId> group{ProfileId{a}, ProfileId{b}};
        const std::vector<ProfileId> sorted{ProfileId{std::min(a, b)}, ProfileId{std::max(a, b)}};
        ASSERT_EQ(speed.cycle_s(group),
                  direct(profiles, sorted, Ordering::Best) * ContentionModel().factor(2));
      }
    }
  };
  ask_all();
  EXPECT_EQ(speed.groups_known(), 60U * 61U / 2U);
  ask_all();
  EXPECT_EQ(speed.groups_known(), 60U * 61U / 2U);
}

TEST(GroupSpeed, KeepsGroupsOfDifferentSizesApart) {
  const auto profiles = muri_like(1);
  GroupSpeed speed(profiles, Ordering::Best, ContentionModel({1.0}));
  const std::vector<ProfileId> group(4, ProfileId{0});
  for (const std::size_t size : {2, 3, 4}) {
    const std::vector<ProfileId> members(group.begin(), group.begin() + static_cast<long>(size));
    EXPECT_EQ(speed.cycle_s(members), direct(profiles, members, Ordering::Best));
  }
  EXPECT_EQ(speed.groups_known(), 3U);
}

TEST(GroupSpeed, MindsTheOrderWhenPositionsAreAsGiven) {
  const std::vector<StageProfile> profiles{
      {{9, 1, 3}, {2, 1, 1}}, {{1, 5, 0}, {2, 1, 1}}, {{2, 0, 7}, {2, 1, 1}}};
  GroupSpeed speed(profiles, Ordering::AsGiven, ContentionModel({1.0}));
  const std::vector<ProfileId> forth{ProfileId{0}, ProfileId{1}, ProfileId{2}};
  const std::vector<ProfileId> back{ProfileId{2}, ProfileId{1}, ProfileId{0}};
  EXPECT_EQ(speed.cycle_s(forth), direct(profiles, forth, Ordering::AsGiven));
  EXPECT_EQ(speed.cycle_s(back), direct(profiles, back, Ordering::AsGiven));
  EXPECT_NE(speed.cycle_s(forth), speed.cycle_s(back));
}

TEST(GroupSpeed, CountsBusyResourcesAsEfficiency) {
  // Four equal jobs keep all four slots busy with one second each.
  const std::vector<StageProfile> profiles{{{1, 1, 1, 1}, {1, 1, 1, 1}}};
  GroupSpeed speed(profiles, Ordering::Best, ContentionModel({1.0, 1.25}));
  const std::vector<ProfileId> group(4, ProfileId{0});
  EXPECT_DOUBLE_EQ(speed.cycle_s(group), 5);
  EXPECT_DOUBLE_EQ(speed.efficiency(group), 16.0 / (4 * 5));
  EXPECT_EQ(speed.resources(ProfileId{0}), 4);
}

TEST(GroupSpeed, CallsStagesWithoutTimeIdle) {
  const std::vector<StageProfile> profiles{{{0, 0, 0}, {2, 1, 1}}};
  GroupSpeed speed(profiles, Ordering::Best);
  EXPECT_EQ(speed.efficiency(std::vector<ProfileId>(2, ProfileId{0})), 0);
}

TEST(GroupSpeed, ComputesGroupsTooLargeToKeep) {
  StageProfile profile{std::vector<double>(9, 1.0), std::vector<int>(9, 1)};
  const std::vector<StageProfile> profiles{profile};
  GroupSpeed speed(profiles, Ordering::Best, ContentionModel({1.0}));
  EXPECT_DOUBLE_EQ(speed.cycle_s(std::vector<ProfileId>(9, ProfileId{0})), 9);
  EXPECT_EQ(speed.groups_known(), 0U);
}

}  // namespace
}  // namespace orrery
