#include "live/store/backup.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "live/store/committer.h"
#include "live/store/test_store.h"

namespace orrery {
namespace {

TEST(Backup, ACopyOfAStoreInUseHoldsWhatWasAcknowledged) {
  const TestFolder folder;
  Store store = opened(folder.file());
  ASSERT_TRUE(store.append(test_records(1, 50)).ok());
  ASSERT_TRUE(store.put_snapshot(20, "state").ok());
  const auto made = back_up(folder.file(), folder.file("copy.db"));
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made.value().last, 50);
  ASSERT_TRUE(store.append(test_records(51, 60)).ok()) << "the store goes on";
  Store copy = opened(folder.file("copy.db"), {.keeps_mark = false});
  EXPECT_EQ(all_records(copy), test_records(1, 50));
  EXPECT_EQ(copy.latest_snapshot().value().sequence, 20);
}

// With large records the log begins again every few dozen of them, in the middle of copies.
TEST(Backup, CopiesMadeDuringABurstAreEachOneState) {
  const TestFolder folder;
  Committer committer(opened(folder.file()));
  std::atomic<bool> ends{false};
  std::atomic<std::int64_t> acknowledged{0};
  std::thread burst([&] {
    while (!ends) {
      auto ticket = committer.append(test_record(0, std::string(20'000, 'x')));
      if (!ticket.ok() || !ticket.value().wait().ok()) return;
      acknowledged = ticket.value().sequence();
    }
  });
  int copies = 0;
  for (int i = 0; i < 5; ++i) {
    const std::int64_t before = acknowledged;
    const std::string path = folder.file("copy" + std::to_string(i) + ".db");
    const auto made = back_up(folder.file(), path);
    if (!made.ok()) {
      EXPECT_EQ(made.error().code, Code::Unavailable) << made.error().message;
      continue;
    }
    ++copies;
    EXPECT_GE(made.value().last, before);
  }
  ends = true;
  burst.join();
  EXPECT_GT(copies, 0);
}

TEST(Backup, WhatCannotBeCopiedIsSaidSo) {
  const TestFolder folder;
  EXPECT_EQ(back_up(folder.file("none"), folder.file("copy")).error().code, Code::NotFound);
  { Store store = opened(folder.file()); }
  std::ofstream(folder.file("copy")) << "mine";
  EXPECT_EQ(back_up(folder.file(), folder.file("copy")).error().code, Code::AlreadyExists);
}

TEST(Backup, AStoreInUseIsHeld) {
  const TestFolder folder;
  EXPECT_TRUE(check_not_held(folder.file()).ok());
  {
    Store store = opened(folder.file());
    ASSERT_TRUE(store.append(test_records(1, 1)).ok());
    EXPECT_EQ(check_not_held(folder.file()).error().code, Code::Unavailable);
  }
  EXPECT_TRUE(check_not_held(folder.file()).ok());
}

}  // namespace
}  // namespace orrery
