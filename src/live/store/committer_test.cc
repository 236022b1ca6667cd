#include "live/store/committer.h"

#include <gtest/gtest.h>

#include <future>
#include <map>
#include <thread>

#include "live/store/test_store.h"

namespace orrery {
namespace {

// Keeps the writer busy with something that is not a commit, from construction to release().
class BusyWriter {
 public:
  explicit BusyWriter(Committer& committer) {
    std::promise<void> begun;
    thread_ = std::thread([&] {
      const Status status = committer.with_store([&](Store&) {
        begun.set_value();
        release_.get_future().wait();
        return Status();
      });
      EXPECT_EQ(why(status), "");
    });
    begun.get_future().wait();
  }
  void release() {
    release_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> release_;
  std::thread thread_;
};

TEST(Committer, RecordsAreOnDiskWhenTheirTicketIsReady) {
  const TestFolder folder;
  {
    Committer committer(opened(folder.file()));
    const Result<Ticket> ticket = committer.append(test_record(77, "first"));
    ASSERT_TRUE(ticket.ok());
    EXPECT_EQ(ticket.value().sequence(), 1);
    EXPECT_EQ(why(ticket.value().wait()), "");
    EXPECT_TRUE(ticket.value().ready());
    std::int64_t last = 0;
    EXPECT_TRUE(committer
                    .with_store([&](Store& store) {
                      last = store.last();
                      return Status();
                    })
                    .ok());
    EXPECT_EQ(last, 1);
  }
  Store store = opened(folder.file());
  ASSERT_EQ(all_records(store).size(), 1U);
  EXPECT_EQ(all_records(store)[0].body, "first");
}

TEST(Committer, RecordsThatArriveDuringOtherWorkGoInTogether) {
  const TestFolder folder;
  std::vector<std::int64_t> commits;
  Committer committer(opened(folder.file()),
                      {.on_commit = [&](std::int64_t sequence) { commits.push_back(sequence); }});
  BusyWriter busy(committer);
  std::vector<Ticket> tickets;
  for (int i = 1; i <= 100; ++i) {
    tickets.push_back(committer.append(test_record(0, std::to_string(i))).value());
    EXPECT_EQ(tickets.back().sequence(), i);
    EXPECT_FALSE(tickets.back().ready());
  }
  busy.release();
  for (const Ticket& ticket : tickets) EXPECT_EQ(why(ticket.wait()), "");
  EXPECT_EQ(why(committer.close()), "");
  EXPECT_EQ(commits, std::vector<std::int64_t>{100});
}

TEST(Committer, SaysWhenTooMuchWaitsAndTakesMoreAfterwards) {
  const TestFolder folder;
  Committer committer(opened(folder.file()), {.records_waiting_max = 3});
  BusyWriter busy(committer);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 3; ++i) tickets.push_back(committer.append(test_record(0)).value());
  const Result<Ticket> refused = committer.append(test_record(0));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::ResourceExhausted);
  busy.release();
  EXPECT_EQ(why(tickets.back().wait()), "");
  const Result<Ticket> later = committer.append(test_record(0));
  ASSERT_TRUE(later.ok());
  EXPECT_EQ(later.value().sequence(), 4);
  EXPECT_EQ(why(later.value().wait()), "");
}

TEST(Committer, CountsBytesThatWaitAsWell) {
  const TestFolder folder;
  Committer committer(opened(folder.file()), {.bytes_waiting_max = 1000});
  BusyWriter busy(committer);
  const Result<Ticket> large = committer.append(test_record(0, std::string(5000, 'x')));
  ASSERT_TRUE(large.ok());
  EXPECT_EQ(committer.append(test_record(0)).error().code, Code::ResourceExhausted);
  busy.release();
  EXPECT_EQ(why(large.value().wait()), "");
}

TEST(Committer, RefusesABadRecordAndNoOther) {
  const TestFolder folder;
  Committer committer(opened(folder.file()));
  Record bad = test_record(0);
  bad.kind = "";
  EXPECT_EQ(committer.append(bad).error().code, Code::InvalidArgument);
  const Result<Ticket> good = committer.append(test_record(0));
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good.value().sequence(), 1);
  EXPECT_EQ(why(good.value().wait()), "");
}

TEST(Committer, ClosingCommitsWhatWaits) {
  const TestFolder folder;
  {
    Committer committer(opened(folder.file()));
    for (int i = 1; i <= 50; ++i) ASSERT_TRUE(committer.append(test_record(0)).ok());
    EXPECT_EQ(why(committer.close()), "");
    EXPECT_EQ(committer.append(test_record(0)).error().code, Code::FailedPrecondition);
    EXPECT_FALSE(committer.with_store([](Store&) { return Status(); }).ok());
    EXPECT_EQ(opened(folder.file()).last(), 50);
  }
  std::vector<Ticket> tickets;
  {
    Committer committer(opened(folder.file()));
    for (int i = 1; i <= 50; ++i) tickets.push_back(committer.append(test_record(0)).value());
  }
  for (const Ticket& ticket : tickets) EXPECT_EQ(why(ticket.wait()), "");
  EXPECT_EQ(opened(folder.file()).last(), 100);
}

TEST(Committer, ReadsAndCompactsBetweenCommits) {
  const TestFolder folder;
  Committer committer(opened(folder.file()));
  for (int i = 1; i <= 20; ++i) ASSERT_TRUE(committer.append(test_record(0)).value().wait().ok());
  EXPECT_EQ(why(committer.with_store([](Store& store) -> Status {
              TRY(store.put_snapshot(15, "state"));
              TRY(store.compact(1));
              return {};
            })),
            "");
  EXPECT_EQ(committer.append(test_record(0)).value().sequence(), 21);
  std::int64_t seen = 0;
  EXPECT_EQ(why(committer.with_store([&](Store& store) {
              return store.read(16, [&](const Record&) {
                ++seen;
                return Status();
              });
            })),
            "");
  EXPECT_GE(seen, 5);
}

TEST(Committer, KeepsEachThreadsOrderAndLosesNothing) {
  const TestFolder folder;
  constexpr int kThreads = 8;
  constexpr int kEach = 60;
  std::vector<std::map<std::int64_t, std::string>> given(kThreads);
  {
    Committer committer(opened(folder.file()));
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        std::vector<Ticket> tickets;
        for (int i = 0; i < kEach; ++i) {
          const std::string body = std::to_string(thread) + "/" + std::to_string(i);
          tickets.push_back(committer.append(test_record(0, body)).value());
          given[static_cast<std::size_t>(thread)][tickets.back().sequence()] = body;
          if (i % 4 == 3) {
            EXPECT_EQ(why(tickets.back().wait()), "");
          }
        }
        for (const Ticket& ticket : tickets) EXPECT_EQ(why(ticket.wait()), "");
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  Store store = opened(folder.file());
  const std::vector<Record> records = all_records(store);
  ASSERT_EQ(records.size(), static_cast<std::size_t>(kThreads * kEach));
  for (int thread = 0; thread < kThreads; ++thread) {
    int i = 0;
    for (const auto& [sequence, body] : given[static_cast<std::size_t>(thread)]) {
      EXPECT_EQ(records[static_cast<std::size_t>(sequence - 1)].body, body);
      EXPECT_EQ(body, std::to_string(thread) + "/" + std::to_string(i++));
    }
  }
}

}  // namespace
}  // namespace orrery
