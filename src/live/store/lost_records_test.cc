// Acknowledged records that are gone when a store is opened again, and what is said about it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "live/store/schema.h"
#include "live/store/test_store.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void replace(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::string failure(const std::string& path) {
  const auto store = Store::open(path);
  return store.ok() ? "" : store.error().message;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The files of a store whose process was killed after it had acknowledged three records.
class LostRecords : public testing::Test {
 protected:
  LostRecords() {
    Store store = opened(folder_.file("live.db"));
    for (int i = 1; i <= 3; ++i) {
      const Record record = test_record(i, "needle-" + std::to_string(i));
      EXPECT_TRUE(store.append({&record, 1}).ok());
    }
    for (const char* end : {"", "-wal", "-mark"}) {
      fs::copy_file(folder_.file("live.db") + end, path_ + end);
    }
  }
  void flip(const std::string& file, const std::string& where) {
    std::string bytes = content(file);
    const std::size_t at = bytes.find(where);
    ASSERT_NE(at, std::string::npos);
    bytes[at] ^= 1;
    replace(file, bytes);
  }

  TestFolder folder_;
  std::string path_ = folder_.file("log.db");
};

TEST_F(LostRecords, WithoutAFaultNothingIsLost) {
  EXPECT_EQ(failure(path_), "");
  Store store = opened(path_);
  EXPECT_EQ(all_records(store).size(), 3u);
}

TEST_F(LostRecords, AFlippedByteInTheWriteAheadLogIsFound) {
  // SQLite ends the log there, and takes the second and third record for never written.
  flip(path_ + "-wal", "needle-2");
  const std::string before = content(path_ + "-wal");
  EXPECT_TRUE(says(failure(path_), "records 2 to 3 are missing")) << failure(path_);
  EXPECT_TRUE(says(failure(path_), "orrery restore"));
  EXPECT_EQ(content(path_ + "-wal"), before) << "what can still be read of it is evidence";
}

TEST_F(LostRecords, ALostFileIsFound) {
  fs::remove(path_);
  fs::remove(path_ + "-wal");
  EXPECT_TRUE(says(failure(path_), "records up to 3 were acknowledged")) << failure(path_);
  replace(path_, "");
  EXPECT_TRUE(says(failure(path_), "records up to 3 were acknowledged")) << failure(path_);
}

TEST_F(LostRecords, AnotherLogInItsPlaceIsFound) {
  {
    Store other = opened(folder_.file("other.db"));
    ASSERT_TRUE(other.append(test_records(1, 9, "other")).ok());
  }
  fs::remove(path_ + "-wal");
  fs::copy_file(folder_.file("other.db"), path_, fs::copy_options::overwrite_existing);
  EXPECT_TRUE(says(failure(path_), "record 3 is not the one that was acknowledged"))
      << failure(path_);
}

TEST_F(LostRecords, ARecordFromAnotherLogDoesNotFitTheChain) {
  { Store store = opened(path_); }
  const Record other = test_record(2, "other");
  {
    Database database = std::move(Database::open(path_, "")).value();
    ASSERT_TRUE(database
                    .run("UPDATE record SET body=CAST('other' AS BLOB), crc=" +
                         std::to_string(checksum(other)) + " WHERE sequence=2")
                    .ok());
  }
  Store store = opened(path_);
  const Status read = store.read(1, [](const Record&) { return Status(); });
  EXPECT_TRUE(says(why(read), "record 2 does not fit its checksum")) << why(read);
}

TEST_F(LostRecords, ACopyWithoutItsMarkIsTakenAsItIs) {
  fs::remove(path_ + "-mark");
  flip(path_ + "-wal", "needle-3");
  Store store = opened(path_);
  EXPECT_EQ(all_records(store).size(), 2u);
}

TEST_F(LostRecords, TheChainGoesOnAfterACompaction) {
  {
    Store store = opened(path_);
    for (const int through : {2, 3}) ASSERT_TRUE(store.put_snapshot(through, "state").ok());
    ASSERT_EQ(store.compact(2).value().deleted, 2);
    ASSERT_TRUE(store.append(test_records(4, 6)).ok());
  }
  Store store = opened(path_);
  EXPECT_EQ(all_records(store).size(), 4u);
}

// A store of the first version, whose checksums are not chained.
TEST_F(LostRecords, AnOlderStoreIsChainedFromItsUpgradeOn) {
  const std::string path = folder_.file("old.db");
  {
    Database database = std::move(Database::open(path, "")).value();
    const auto steps = schema_steps();
    ASSERT_TRUE(prepare_file(database, steps.first(1)).ok());
    for (const Record& record : test_records(1, 3)) {
      ASSERT_TRUE(
          database
              .run("INSERT INTO record VALUES(" + std::to_string(record.sequence) + "," +
                   std::to_string(record.time.time_since_epoch().count()) + ",'submitted'," +
                   (record.job == kNoJobNumber ? std::string("NULL") : std::to_string(record.job)) +
                   ",CAST('{}' AS BLOB)," + std::to_string(checksum(record)) + ")")
              .ok());
    }
  }
  {
    Store store = opened(path);
    ASSERT_TRUE(store.append(test_records(4, 6)).ok());
  }
  Store store = opened(path);
  EXPECT_EQ(all_records(store), test_records(1, 6));
}

}  // namespace
}  // namespace orrery
