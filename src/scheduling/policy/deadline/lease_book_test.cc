#include "scheduling/policy/deadline/lease_book.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

class LeaseBookTest : public testing::Test {
 protected:
  LeaseBookTest() { book.set_gpus(4); }
  bool reserve(int job, int gpus, int end, int needed, int from) {
    return book.reserve({.job = static_cast<JobId>(job), .gpus = gpus, .end = end}, needed, from);
  }
  Leases leases(int job) const {
    const auto* claim = book.find(static_cast<JobId>(job));
    return claim == nullptr ? Leases{} : claim->leases;
  }
  std::vector<JobId> begin(int now, FirstLease wanted) {
    std::vector<JobId> holders;
    book.begin(now, wanted, holders);
    return holders;
  }
  std::vector<JobId> settle(int now, int needed) {
    std::vector<JobId> used_up;
    book.settle(
        now, [&](JobId) { return needed; }, [](JobId) { return false; }, used_up);
    return used_up;
  }

  LeaseBook book;
};

TEST_F(LeaseBookTest, ReservesTheLatestLeasesThatAreLeft) {
  ASSERT_TRUE(reserve(0, 3, 20, 2, 11));
  EXPECT_EQ(leases(0), (Leases{18, 19}));
  ASSERT_TRUE(reserve(1, 2, 20, 2, 11));
  EXPECT_EQ(leases(1), (Leases{16, 17}));
  ASSERT_TRUE(reserve(2, 1, 19, 2, 11));
  EXPECT_EQ(leases(2), (Leases{17, 18}));
}

TEST_F(LeaseBookTest, RefusesWithoutChangingAnything) {
  ASSERT_TRUE(reserve(0, 4, 12, 2, 10));
  EXPECT_FALSE(reserve(1, 1, 12, 1, 10));
  EXPECT_FALSE(reserve(2, 1, 30, 21, 10)) << "more leases than there are";
  EXPECT_EQ(leases(0), (Leases{10, 11}));
  EXPECT_EQ(book.find(JobId{1}), nullptr);
}

TEST_F(LeaseBookTest, ArrangesAllJobsAgainIfTheNewOneThenFits) {
  ASSERT_TRUE(reserve(0, 2, 3, 1, 1));
  ASSERT_TRUE(reserve(1, 2, 3, 1, 1));
  ASSERT_EQ(leases(0), leases(1));
  ASSERT_TRUE(reserve(2, 1, 3, 2, 1));
  EXPECT_NE(leases(0), leases(1));
  EXPECT_EQ(leases(2), (Leases{1, 2}));
}

TEST_F(LeaseBookTest, WhatIsNotNeededGoesBackTheEarliestFirst) {
  ASSERT_TRUE(reserve(0, 1, 20, 5, 11));
  EXPECT_TRUE(settle(11, 3).empty());
  EXPECT_EQ(leases(0), (Leases{17, 18, 19}));
}

TEST_F(LeaseBookTest, AJobThatHasUsedUpItsLeasesLosesItsClaim) {
  ASSERT_TRUE(reserve(0, 1, 2, 1, 1));
  EXPECT_TRUE(settle(1, 1).empty());
  EXPECT_EQ(begin(1, FirstLease::Idlest), std::vector<JobId>{JobId{0}});
  EXPECT_EQ(settle(2, 1), std::vector<JobId>{JobId{0}});
  EXPECT_EQ(book.find(JobId{0}), nullptr);
}

TEST_F(LeaseBookTest, ALeaseGoesToAsManyOrAsFewAsWanted) {
  ASSERT_TRUE(reserve(0, 2, 10, 1, 1));
  ASSERT_TRUE(reserve(1, 2, 2, 1, 1));
  EXPECT_EQ(begin(1, FirstLease::Idlest), std::vector<JobId>{JobId{1}});
  book.drop(JobId{1});
  EXPECT_EQ(begin(2, FirstLease::Busiest), std::vector<JobId>{JobId{0}});
}

}  // namespace
}  // namespace orrery
