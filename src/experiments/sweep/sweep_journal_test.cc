#include "experiments/sweep/sweep_journal.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_folder.h"

namespace orrery {
namespace {

using Begin = SweepJournal::Begin;

class SweepJournalTest : public testing::Test {
 protected:
  Result<SweepJournal> open(Begin begin, std::string_view identity = "one\ntwo\n",
                            std::size_t runs = 3) const {
    return SweepJournal::open(path(), identity, runs, begin);
  }
  std::string path() const { return folder_.file("sweep.journal"); }
  std::string problem(Begin begin, std::string_view identity = "one\ntwo\n") const {
    const auto journal = open(begin, identity);
    return journal.ok() ? "" : journal.error().message;
  }
  void fill(std::initializer_list<std::size_t> runs) const {
    auto journal = open(Begin::Resume);
    ASSERT_TRUE(journal.ok()) << journal.error().message;
    SweepJournal filled = std::move(journal).value();
    for (const std::size_t run : runs) {
      ASSERT_TRUE(filled.append(run, "content of\nrun " + std::to_string(run) + "\n").ok());
    }
  }

  const TestFolder folder_;
};

TEST_F(SweepJournalTest, KeepsRunsInAnyOrder) {
  fill({2, 0});
  auto journal = open(Begin::Resume);
  ASSERT_TRUE(journal.ok()) << journal.error().message;
  EXPECT_EQ(journal.value().finished(), 2U);
  EXPECT_TRUE(journal.value().has(0));
  EXPECT_FALSE(journal.value().has(1));
  EXPECT_EQ(journal.value().read(2).value(), "content of\nrun 2\n");
  EXPECT_EQ(journal.value().bytes_cut_off(), 0);
}

TEST_F(SweepJournalTest, GoesOnFromEveryPlaceAtWhichItWasCut) {
  fill({0, 1});
  const std::string whole = read_file(path()).value();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    ASSERT_TRUE(write_file_atomically(path(), whole.substr(0, size)).ok());
    std::size_t before = 0;
    {
      auto journal = open(Begin::Resume);
      ASSERT_TRUE(journal.ok()) << size << ": " << journal.error().message;
      SweepJournal open_one = std::move(journal).value();
      before = open_one.finished();
      EXPECT_LT(before, 3U);
      for (std::size_t run = 0; run < 2; ++run) {
        if (open_one.has(run)) continue;
        ASSERT_TRUE(open_one.append(run, "content of\nrun " + std::to_string(run) + "\n").ok());
      }
    }
    EXPECT_EQ(read_file(path()).value(), whole) << "cut at " << size << ", " << before << " left";
  }
}

TEST_F(SweepJournalTest, ARecordWithAWrongByteIsNoRecord) {
  fill({0, 1});
  std::string whole = read_file(path()).value();
  whole[whole.find("run 1\n")] = 'R';
  ASSERT_TRUE(write_file_atomically(path(), whole).ok());
  auto journal = open(Begin::Resume);
  ASSERT_TRUE(journal.ok());
  EXPECT_EQ(journal.value().finished(), 1U);
  EXPECT_GT(journal.value().bytes_cut_off(), 0);
}

TEST_F(SweepJournalTest, AnotherSweepIsRefusedInWords) {
  fill({0});
  EXPECT_EQ(problem(Begin::Resume, "one\nthree\n").substr(path().size()),
            ": holds another sweep: there 'two', here 'three'. Name another --out, or remove that "
            "folder");
  EXPECT_NE(problem(Begin::Resume, "one\n").find("there 'two', here nothing"), std::string::npos);
  EXPECT_NE(problem(Begin::Fresh, "one\n").find("another sweep"), std::string::npos);
}

TEST_F(SweepJournalTest, UnfinishedWorkIsNotThrownAway) {
  fill({0});
  EXPECT_NE(problem(Begin::Fresh).find("1 of 3 runs of this sweep are done; add --resume"),
            std::string::npos);
  fill({1, 2});
  auto again = open(Begin::Fresh);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again.value().finished(), 0U) << "a finished sweep may be made again";
}

TEST_F(SweepJournalTest, OneProcessAtATime) {
  const auto first = open(Begin::Resume);
  ASSERT_TRUE(first.ok());
  EXPECT_NE(problem(Begin::Resume).find("another sweep is at work"), std::string::npos);
}

TEST_F(SweepJournalTest, AForeignFileIsNotOverwritten) {
  folder_.write("sweep.journal", "my notes\n");
  EXPECT_NE(problem(Begin::Fresh).find("is no journal"), std::string::npos);
  EXPECT_EQ(read_file(path()).value(), "my notes\n");
}

TEST_F(SweepJournalTest, AFolderThatIsNotThereIsNamed) {
  const auto journal = SweepJournal::open(folder_.file("none/sweep.journal"), "x", 1, Begin::Fresh);
  ASSERT_FALSE(journal.ok());
  EXPECT_NE(journal.error().message.find("none/sweep.journal: No such file"), std::string::npos);
}

}  // namespace
}  // namespace orrery
