#include "live/store/store.h"

#include <gtest/gtest.h>

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <filesystem>

#include <array>
#include <csignal>
#include <fstream>

#include "live/store/test_store.h"

namespace orrery {
namespace {

std::string why_not(const std::string& path) {
  const Result<Store> store = Store::open(path);
  return store.ok() ? "" : store.error().message;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Past the store, as a person with the sqlite3 program would.
void tamper(const std::string& path, const std::string& sql) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(connection);
  sqlite3_close(connection);
}

TEST(Store, GivesBackWhatWasAppendedAfterItIsOpenedAgain) {
  const TestFolder folder;
  const std::vector<Record> records{
      {.sequence = 1, .time = Time(Duration(-5)), .kind = "a", .job = 0, .body = ""},
      {.sequence = 2, .time = kNever, .kind = "été", .job = kNoJobNumber, .body = {"\0\xff'", 3}},
  };
  {
    Store store = opened(folder.file());
    EXPECT_EQ(store.first(), 1);
    EXPECT_EQ(store.last(), 0);
    ASSERT_EQ(why(store.append(records)), "");
    EXPECT_EQ(store.last(), 2);
  }
  Store store = opened(folder.file());
  EXPECT_EQ(store.last(), 2);
  EXPECT_EQ(all_records(store), records);
}

TEST(Store, AppendsAllOfABatchOrNothing) {
  const TestFolder folder;
  Store store = opened(folder.file());
  std::vector<Record> records = test_records(1, 3);
  records[2].kind = "";
  EXPECT_EQ(store.append(records).error().code, Code::InvalidArgument);
  records = test_records(1, 3);
  records[2].sequence = 4;
  EXPECT_TRUE(
      contains(why(store.append(records)), "record 4 does not follow on: the next one is 3"));
  EXPECT_TRUE(contains(why(store.append(test_records(2, 3))), "the next one is 1"));
  EXPECT_EQ(store.last(), 0);
  EXPECT_TRUE(all_records(store).empty());
  EXPECT_EQ(why(store.append(test_records(1, 3))), "");
  EXPECT_EQ(why(store.append({})), "");
  EXPECT_EQ(all_records(store), test_records(1, 3));
}

TEST(Store, RefusesRecordsItCouldNotGiveBack) {
  const TestFolder folder;
  Store store = opened(folder.file());
  Record record = test_record(1);
  record.kind = std::string(kKindBytesMax + 1, 'x');
  EXPECT_FALSE(store.append({&record, 1}).ok());
  record.kind = {"a\0b", 3};
  EXPECT_FALSE(store.append({&record, 1}).ok());
  record = test_record(1);
  record.job = -2;
  EXPECT_FALSE(store.append({&record, 1}).ok());
  record = test_record(1, std::string(kBodyBytesMax + 1, 'x'));
  EXPECT_FALSE(store.append({&record, 1}).ok());
  EXPECT_EQ(why(store.append(test_records(1, 1))), "");
}

TEST(Store, ReadsFromAnyRecordAndNoMoreThanAsked) {
  const TestFolder folder;
  Store store = opened(folder.file());
  ASSERT_TRUE(store.append(test_records(1, 10)).ok());
  std::vector<std::int64_t> seen;
  const auto note = [&](const Record& record) {
    seen.push_back(record.sequence);
    return Status();
  };
  EXPECT_EQ(why(store.read(4, note, 3)), "");
  EXPECT_EQ(seen, (std::vector<std::int64_t>{4, 5, 6}));
  seen.clear();
  EXPECT_EQ(why(store.read(9, note, 3)), "");
  EXPECT_EQ(seen, (std::vector<std::int64_t>{9, 10}));
  seen.clear();
  EXPECT_EQ(why(store.read(11, note)), "");
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(store.read(12, note).error().code, Code::InvalidArgument);
  EXPECT_EQ(store.read(0, note).error().code, Code::NotFound);
  const Status stopped = store.read(1, [](const Record& record) {
    return record.sequence == 2 ? Status(invalid("enough")) : Status();
  });
  EXPECT_EQ(why(stopped), "enough");
}

TEST(Store, NamesRecordsThatAreMissingOrDamaged) {
  const TestFolder folder;
  ASSERT_TRUE(opened(folder.file()).append(test_records(1, 9)).ok());
  const auto fault = [&] {
    Store store = opened(folder.file());
    return store.read(1, [](const Record&) { return Status(); });
  };
  tamper(folder.file(), "UPDATE record SET body=x'00' WHERE sequence=8");
  EXPECT_EQ(fault().error().code, Code::DataLoss);
  EXPECT_TRUE(contains(why(fault()), "record 8 does not fit its checksum"));
  tamper(folder.file(), "UPDATE record SET job=NULL WHERE sequence=7");
  EXPECT_TRUE(contains(why(fault()), "record 7 does not fit"));
  tamper(folder.file(), "DELETE FROM record WHERE sequence=5");
  EXPECT_TRUE(contains(why(fault()), "record 5 is missing"));
  tamper(folder.file(), "DELETE FROM record WHERE sequence=4");
  EXPECT_TRUE(contains(why(fault()), "records 4 to 5 are missing"));
  tamper(folder.file(), "DELETE FROM record WHERE sequence=1");
  EXPECT_TRUE(contains(why_not(folder.file()), "record 1 is missing"));
}

TEST(Store, SaysWhatIsWrongWithAPathAndWhatToDo) {
  const TestFolder folder;
  EXPECT_TRUE(contains(why_not(""), "needs the path of a file"));
  EXPECT_TRUE(contains(why_not(folder.path()), "is a folder; give the path of a file in it"));
  EXPECT_TRUE(contains(why_not(folder.file("no/log.db")), "make it first"));
  EXPECT_TRUE(contains(why_not("/dev/null"), "give the path of a file"));
}

TEST(Store, LeavesFilesThatAreNotItsOwnAlone) {
  const TestFolder folder;
  std::ofstream(folder.file("text")) << std::string(5000, 'x');
  EXPECT_TRUE(contains(why_not(folder.file("text")), "this is no SQLite file"));
  tamper(folder.file("foreign"), "CREATE TABLE record(x)");
  EXPECT_TRUE(contains(why_not(folder.file("foreign")), "is an SQLite file of another program"));
  tamper(folder.file("foreign"), "INSERT INTO record VALUES(1)");
  EXPECT_TRUE(contains(why_not(folder.file("foreign")), "is an SQLite file of another program"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("foreign-wal")));
}

TEST(Store, RefusesAFileOfALaterVersion) {
  const TestFolder folder;
  ASSERT_TRUE(opened(folder.file()).append(test_records(1, 2)).ok());
  tamper(folder.file(), "PRAGMA user_version=99");
  EXPECT_TRUE(contains(why_not(folder.file()), "was written by a later Orrery (version 99"));
}

TEST(Store, IsHeldByOneProcessAtATime) {
  const TestFolder folder;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Result<Store> held = Store::open(folder.file());
    if (!held.ok() || write(ends[1], "x", 1) != 1) _exit(1);
    while (true) pause();
  }
  char byte = 0;
  close(ends[1]);
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  EXPECT_TRUE(contains(why_not(folder.file()), "another process holds this store"));
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  close(ends[0]);
  EXPECT_EQ(why_not(folder.file()), "");
}

TEST(Store, IsHeldOnceInAProcess) {
  const TestFolder folder;
  {
    const Store store = opened(folder.file());
    EXPECT_TRUE(contains(why_not(folder.file()), "another process holds this store"));
  }
  EXPECT_EQ(why_not(folder.file()), "");
}

TEST(Store, IsClosedToOtherLoginsWhateverTheUmaskIs) {
  const TestFolder folder;
  const mode_t before = ::umask(0);
  {
    Store store = opened(folder.file());
    EXPECT_EQ(why(store.append(test_records(1, 100))), "");
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      struct stat found {};
      ASSERT_EQ(::stat(entry.path().c_str(), &found), 0);
      EXPECT_EQ(found.st_mode & 07777, 0600u) << entry.path();
      ++files;
    }
    EXPECT_GE(files, 2) << "the log and what SQLite writes first";
  }
  ::umask(before);
}

TEST(Store, SaysWhenItMayNotWrite) {
  const TestFolder folder;
  ASSERT_TRUE(opened(folder.file()).append(test_records(1, 2)).ok());
  ASSERT_EQ(chmod(folder.file().c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
  // Permissions do not bind root, so it steps down for a moment.
  const uid_t user = geteuid();
  ASSERT_EQ(user == 0 ? seteuid(65534) : 0, 0);
  const std::string read_only = why_not(folder.file());
  const std::string read_only_folder = why_not(folder.file("new.db"));
  ASSERT_EQ(user == 0 ? seteuid(user) : 0, 0);
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  EXPECT_TRUE(contains(read_only, "may not be written by this user")) << read_only;
  EXPECT_TRUE(contains(read_only_folder, "must exist and be writable")) << read_only_folder;
}

TEST(Store, ReadsADamagedFileAsDamaged) {
  const TestFolder folder;
  ASSERT_TRUE(opened(folder.file()).append(test_records(1, 2000, std::string(100, 'x'))).ok());
  {
    std::fstream file(folder.file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(20 * 4096);
    file << std::string(4096, '\xee');
  }
  Store store = opened(folder.file());
  const Status status = store.read(1, [](const Record&) { return Status(); });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::DataLoss) << status.error().message;
}

TEST(Store, WritesWhereItsLogIsReserved) {
  const TestFolder folder;
  Store store = opened(folder.file(), {.log_bytes = 100'000});
  const std::string log = folder.file() + "-wal";
  EXPECT_EQ(std::filesystem::file_size(log), 100'000U);
  for (std::int64_t i = 1; i <= 5; ++i) {
    ASSERT_TRUE(store.append(test_records(i, i)).ok());
    EXPECT_EQ(std::filesystem::file_size(log), 100'000U);
  }
  ASSERT_TRUE(store.append(test_records(6, 6, std::string(200'000, 'x'))).ok());
  EXPECT_GT(std::filesystem::file_size(log), 200'000U) << "more than was reserved";
  std::filesystem::copy(folder.file(), folder.file("copy.db"));
  std::filesystem::copy(log, folder.file("copy.db-wal"));
  Store copy = opened(folder.file("copy.db"));
  EXPECT_EQ(all_records(copy), all_records(store)) << "as after a crash";
}

}  // namespace
}  // namespace orrery
