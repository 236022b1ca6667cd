#include "training/trainer/head/exchange/ring_record.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using std::chrono::seconds;

const RingRecord::Clock::time_point kStart{seconds(1000)};

std::vector<WorkerId> workers(std::initializer_list<int> ids) {
  std::vector<WorkerId> all;
  for (const int id : ids) all.push_back(WorkerId{id});
  return all;
}

TEST(RingRecord, ANewcomerIsBlamedForTheSecondRingThatFails) {
  RingRecord record;
  record.began(1, workers({0, 1}), kStart);
  record.formed(0);
  record.formed(1);
  record.began(2, workers({0, 1, 2}), kStart);
  EXPECT_TRUE(record.failed(2).empty());
  EXPECT_TRUE(record.failed(2).empty()) << "several members report one failure";
  record.began(3, workers({0, 1, 2}), kStart);
  EXPECT_EQ(record.failed(3), std::vector<int>{2});
}

TEST(RingRecord, InTheFirstRingNoMemberIsBlamed) {
  RingRecord record;
  for (int epoch = 1; epoch < 5; ++epoch) {
    record.began(epoch, workers({0, 1}), kStart);
    EXPECT_TRUE(record.failed(epoch).empty());
  }
}

TEST(RingRecord, AMemberThatHasFormedARingIsNotBlamedLater) {
  RingRecord record;
  record.began(1, workers({0, 1, 2}), kStart);
  for (const int worker : {0, 1, 2}) record.formed(worker);
  for (int epoch = 2; epoch < 5; ++epoch) {
    record.began(epoch, workers({0, 1, 2}), kStart);
    EXPECT_TRUE(record.failed(epoch).empty());
  }
}

TEST(RingRecord, NamesOnceTheMembersThatHaveNotReported) {
  RingRecord record;
  record.began(1, workers({0, 1}), kStart);
  record.formed(0);
  EXPECT_TRUE(record.overdue(kStart + seconds(4), seconds(5)).empty());
  EXPECT_EQ(record.overdue(kStart + seconds(5), seconds(5)), std::vector<int>{1});
  EXPECT_TRUE(record.overdue(kStart + seconds(6), seconds(5)).empty());
}

}  // namespace
}  // namespace orrery
