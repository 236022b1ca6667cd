// What is left of the log when the disk fails at any one operation of a scenario.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <thread>

#include "live/store/committer.h"
#include "live/store/faulty_disk.h"
#include "live/store/test_store.h"

namespace orrery {
namespace {

std::string body_of(std::int64_t sequence) {
  return std::to_string(sequence) + std::string(static_cast<std::size_t>(sequence * 37 % 900), '.');
}

// What was tried and what was acknowledged: the last record, the last snapshot.
struct Answers {
  std::int64_t tried = 0;
  std::int64_t appended = 0;
  std::int64_t snapshot = 0;
};

void append(Store& store, int count, Answers& answers) {
  std::vector<Record> records;
  for (std::int64_t i = store.last() + 1; i <= store.last() + count; ++i) {
    records.push_back(test_record(i, body_of(i)));
  }
  answers.tried = std::max(answers.tried, store.last() + count);
  const Status status = store.append(records);
  if (status.ok()) answers.appended = store.last();
}

void put_snapshot(Store& store, Answers& answers) {
  const std::int64_t sequence = store.last();
  if (store.put_snapshot(sequence, "state of " + body_of(sequence)).ok())
    answers.snapshot = sequence;
}

// Goes on after a failure, as a careless caller would.
void scenario(const std::string& path, const FaultyDisk& disk, Answers& answers) {
  Result<Store> opened = Store::open(path, {.disk = disk.name()});
  if (!opened.ok()) return;
  Store store = std::move(opened).value();
  append(store, 1, answers);
  append(store, 60, answers);
  put_snapshot(store, answers);
  append(store, 5, answers);
  put_snapshot(store, answers);
  append(store, 1, answers);
  if (!store.compact(2, 40).ok()) return;
  append(store, 3, answers);
  if (!store.compact(1).ok()) return;
  put_snapshot(store, answers);
  append(store, 20, answers);
}

void expect_all_there(const std::string& path, const FaultyDisk& disk, const Answers& answers) {
  Result<Store> opened = Store::open(path, {.disk = disk.name()});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  Store store = std::move(opened).value();
  EXPECT_GE(store.last(), answers.appended);
  EXPECT_LE(store.last(), answers.tried);
  const Result<Snapshot> snapshot = store.latest_snapshot();
  ASSERT_TRUE(snapshot.ok()) << snapshot.error().message;
  EXPECT_TRUE(snapshot.value().damaged.empty());
  EXPECT_GE(snapshot.value().sequence, answers.snapshot);
  EXPECT_LE(store.first(), snapshot.value().sequence + 1);
  if (snapshot.value().sequence > 0) {
    EXPECT_EQ(snapshot.value().bytes, "state of " + body_of(snapshot.value().sequence));
  }
  std::int64_t next = store.first();
  for (const Record& record : all_records(store)) {
    EXPECT_EQ(record, test_record(next, body_of(next)));
    ++next;
  }
  EXPECT_EQ(next, store.last() + 1);
}

// In memory where the system has such a folder: a file system on disk may wait for the disk when a
// file is cut short, although no caller asked for it.
std::string fast_folder() {
  return access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : ::testing::TempDir();
}

// Runs the scenario with the fault at its n-th chance, then looks; false if it never came to that.
bool survives(Fault fault, int n, std::uint64_t seed) {
  const TestFolder folder(fast_folder());
  FaultyDisk disk;
  Random random(seed);
  Answers answers;
  disk.plan(fault, n);
  scenario(folder.file(), disk, answers);
  const bool struck = disk.struck();
  if (fault == Fault::PowerCut) disk.lose_unsynced(random);
  disk.heal();
  if (seed % 2 == 0) expect_all_there(folder.file(), disk, answers);
  {
    // Life goes on, and what is acknowledged now must not rest on bytes that never were on disk.
    Store store = opened(folder.file(), {.disk = disk.name()});
    EXPECT_GE(store.last(), answers.appended);
    append(store, 2, answers);
    EXPECT_EQ(answers.appended, store.last());
    disk.plan(Fault::PowerCut, 1);
  }
  disk.lose_unsynced(random);
  disk.heal();
  expect_all_there(folder.file(), disk, answers);
  return struck;
}

class AnyFault : public ::testing::TestWithParam<Fault> {};

TEST_P(AnyFault, LeavesAPrefixWithAllThatWasAcknowledged) {
  constexpr int kFarTooMany = 5000;
  int n = 1;
  while (n < kFarTooMany && !HasFailure()) {
    SCOPED_TRACE("operation " + std::to_string(n));
    if (!survives(GetParam(), n, 1)) break;
    for (std::uint64_t seed = 2; seed <= 4; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      survives(GetParam(), n, seed);
    }
    ++n;
  }
  EXPECT_GT(n, 10) << "the scenario hardly writes";
  EXPECT_LT(n, kFarTooMany);
  RecordProperty("operations", n - 1);
}

std::string name_of(const ::testing::TestParamInfo<Fault>& fault) {
  constexpr const char* kNames[] = {"None",      "FailedWrite", "ShortWrite", "FailedSync",
                                    "DeadSyncs", "FullDisk",    "PowerCut"};
  return kNames[static_cast<int>(fault.param)];
}

INSTANTIATE_TEST_SUITE_P(Disk, AnyFault,
                         ::testing::Values(Fault::FailedWrite, Fault::ShortWrite, Fault::FailedSync,
                                           Fault::DeadSyncs, Fault::FullDisk, Fault::PowerCut),
                         name_of);

TEST(FaultyDisk, NoticesAStoreThatDoesNotWaitForTheDisk) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const TestFolder folder;
    FaultyDisk disk;
    {
      Result<Database> opened = Database::open(folder.file(), disk.name());
      ASSERT_TRUE(opened.ok());
      Database database = std::move(opened).value();
      ASSERT_EQ(why(database.run("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;"
                                 "CREATE TABLE a(x); PRAGMA wal_checkpoint(TRUNCATE);"
                                 "PRAGMA synchronous=NORMAL; INSERT INTO a VALUES(1)")),
                "");
      disk.plan(Fault::PowerCut, 1);
    }
    Random random(seed);
    disk.lose_unsynced(random);
    disk.heal();
    Result<Database> opened = Database::open(folder.file(), disk.name());
    ASSERT_TRUE(opened.ok());
    Database database = std::move(opened).value();
    ASSERT_EQ(why(database.run("PRAGMA locking_mode=EXCLUSIVE")), "");
    const Result<std::int64_t> rows = database.number("SELECT count(*) FROM a");
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    if (rows.value() == 0) ++lost;
  }
  EXPECT_GT(lost, 0);
}

TEST(Committer, AfterAFailedWriteNothingIsAcknowledgedUntilTheStoreIsOpenedAgain) {
  const TestFolder folder;
  FaultyDisk disk;
  {
    Committer committer(opened(folder.file(), {.disk = disk.name()}));
    ASSERT_TRUE(committer.append(test_record(0)).value().wait().ok());
    std::promise<void> begun;
    std::promise<void> released;
    std::thread busy([&] {
      EXPECT_TRUE(committer
                      .with_store([&](Store&) {
                        disk.plan(Fault::FullDisk, 1);
                        begun.set_value();
                        released.get_future().wait();
                        return Status();
                      })
                      .ok());
    });
    begun.get_future().wait();
    std::vector<Ticket> tickets;
    for (int i = 0; i < 20; ++i) tickets.push_back(committer.append(test_record(0)).value());
    released.set_value();
    busy.join();
    for (const Ticket& ticket : tickets) {
      const Status status = ticket.wait();
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().code, Code::ResourceExhausted) << status.error().message;
    }
    EXPECT_TRUE(committer
                    .with_store([&](Store& store) {
                      disk.heal();
                      EXPECT_FALSE(store.append(test_records(2, 2)).ok());
                      return Status();
                    })
                    .ok());
    EXPECT_EQ(committer.append(test_record(0)).error().code, Code::ResourceExhausted);
    EXPECT_EQ(committer.close().error().code, Code::ResourceExhausted);
  }
  Committer committer(opened(folder.file(), {.disk = disk.name()}));
  const Result<Ticket> ticket = committer.append(test_record(0));
  ASSERT_TRUE(ticket.ok());
  EXPECT_EQ(ticket.value().sequence(), 2);
  EXPECT_EQ(why(ticket.value().wait()), "");
}

}  // namespace
}  // namespace orrery
