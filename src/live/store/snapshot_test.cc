#include <gtest/gtest.h>
#include <sqlite3.h>

#include "live/store/store.h"
#include "live/store/test_store.h"

namespace orrery {
namespace {

// Changes a stored snapshot without its checksum.
void damage(const std::string& path, std::int64_t sequence) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  const std::string sql =
      "UPDATE snapshot SET bytes=x'0102' WHERE sequence=" + std::to_string(sequence);
  EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_changes(connection), 1);
  sqlite3_close(connection);
}

Store with_snapshots(const std::string& path, std::int64_t records,
                     const std::vector<std::int64_t>& at) {
  Store store = opened(path);
  EXPECT_EQ(why(store.append(test_records(1, records))), "");
  for (const std::int64_t sequence : at) {
    EXPECT_EQ(why(store.put_snapshot(sequence, "state " + std::to_string(sequence))), "");
  }
  return store;
}

TEST(Snapshot, TheNewestIsGivenBack) {
  const TestFolder folder;
  Store store = opened(folder.file());
  EXPECT_EQ(store.latest_snapshot().value().sequence, 0);
  ASSERT_TRUE(store.append(test_records(1, 9)).ok());
  ASSERT_TRUE(store.put_snapshot(3, std::string(100000, '\0')).ok());
  EXPECT_EQ(store.latest_snapshot().value().bytes, std::string(100000, '\0'));
  ASSERT_TRUE(store.put_snapshot(9, "").ok());
  EXPECT_EQ(store.latest_snapshot().value().sequence, 9);
  EXPECT_EQ(store.latest_snapshot().value().bytes, "");
}

TEST(Snapshot, CoversOnlyWhatIsInTheLog) {
  const TestFolder folder;
  Store store = with_snapshots(folder.file(), 5, {});
  EXPECT_EQ(store.put_snapshot(6, "x").error().code, Code::InvalidArgument);
  EXPECT_EQ(store.put_snapshot(0, "x").error().code, Code::InvalidArgument);
  EXPECT_EQ(store.latest_snapshot().value().sequence, 0);
}

TEST(Snapshot, OneThatFailsItsChecksumGivesWayToTheOneBefore) {
  const TestFolder folder;
  with_snapshots(folder.file(), 9, {3, 6, 9});
  damage(folder.file(), 9);
  {
    Store store = opened(folder.file());
    const Snapshot snapshot = store.latest_snapshot().value();
    EXPECT_EQ(snapshot.sequence, 6);
    EXPECT_EQ(snapshot.bytes, "state 6");
    EXPECT_EQ(snapshot.damaged, std::vector<std::int64_t>{9});
  }
  damage(folder.file(), 6);
  damage(folder.file(), 3);
  Store store = opened(folder.file());
  EXPECT_EQ(store.latest_snapshot().value().sequence, 0);
  EXPECT_EQ(store.latest_snapshot().value().damaged, (std::vector<std::int64_t>{9, 6, 3}));
}

TEST(Snapshot, WithoutASoundOneACompactedLogIsLost) {
  const TestFolder folder;
  {
    Store store = with_snapshots(folder.file(), 9, {3, 6});
    ASSERT_EQ(store.compact(1).value().deleted, 6);
  }
  damage(folder.file(), 6);
  EXPECT_EQ(opened(folder.file()).latest_snapshot().error().code, Code::DataLoss);
}

TEST(Compaction, KeepsWhatTheSnapshotsThatStayNeed) {
  const TestFolder folder;
  Store store = with_snapshots(folder.file(), 12, {3, 6, 9});
  EXPECT_EQ(store.compact(4).value().deleted, 0);
  EXPECT_EQ(store.compact(2).value().deleted, 6);
  EXPECT_EQ(store.first(), 7);
  EXPECT_EQ(store.last(), 12);
  EXPECT_EQ(all_records(store), test_records(7, 12));
  EXPECT_EQ(store.read(6, [](const Record&) { return Status(); }).error().code, Code::NotFound);
  EXPECT_EQ(store.compact(2).value().deleted, 0);
  EXPECT_EQ(store.compact(1).value().deleted, 3);
  EXPECT_EQ(store.latest_snapshot().value().sequence, 9);
  EXPECT_EQ(all_records(store), test_records(10, 12));
}

TEST(Compaction, DoesNotTrustADamagedSnapshot) {
  const TestFolder folder;
  with_snapshots(folder.file(), 12, {3, 6, 9});
  damage(folder.file(), 9);
  Store store = opened(folder.file());
  EXPECT_EQ(store.compact(1).value().deleted, 6);
  EXPECT_EQ(store.latest_snapshot().value().sequence, 6);
  EXPECT_TRUE(store.latest_snapshot().value().damaged.empty());
  EXPECT_EQ(all_records(store), test_records(7, 12));
}

TEST(Compaction, WithoutASnapshotDeletesNothing) {
  const TestFolder folder;
  Store store = with_snapshots(folder.file(), 4, {});
  EXPECT_EQ(store.compact(1).value().deleted, 0);
  EXPECT_EQ(store.compact(0).error().code, Code::InvalidArgument);
  EXPECT_EQ(all_records(store), test_records(1, 4));
}

TEST(Compaction, OfTheWholeLogGoesOnCounting) {
  const TestFolder folder;
  {
    Store store = with_snapshots(folder.file(), 4, {4});
    ASSERT_EQ(store.compact(1).value().deleted, 4);
    EXPECT_TRUE(all_records(store).empty());
  }
  Store store = opened(folder.file());
  EXPECT_EQ(store.first(), 5);
  EXPECT_EQ(store.last(), 4);
  EXPECT_FALSE(store.append(test_records(1, 1)).ok());
  EXPECT_EQ(why(store.append(test_records(5, 6))), "");
  EXPECT_EQ(all_records(store), test_records(5, 6));
}

TEST(Compaction, CanGoInPieces) {
  const TestFolder folder;
  Store store = with_snapshots(folder.file(), 10, {8});
  Compaction piece = store.compact(1, 3).value();
  EXPECT_EQ(piece.deleted, 3);
  EXPECT_EQ(piece.left, 5);
  EXPECT_EQ(all_records(store), test_records(4, 10));
  EXPECT_EQ(store.compact(1, 3).value().left, 2);
  piece = store.compact(1, 3).value();
  EXPECT_EQ(piece.deleted, 2);
  EXPECT_EQ(piece.left, 0);
  EXPECT_EQ(all_records(store), test_records(9, 10));
}

TEST(Compaction, MakesTheFilesSmaller) {
  const TestFolder folder;
  Store store = opened(folder.file());
  ASSERT_TRUE(store.append(test_records(1, 500, std::string(4000, 'x'))).ok());
  ASSERT_TRUE(store.put_snapshot(499, "all").ok());
  ASSERT_EQ(store.compact(1).value().deleted, 499);
  EXPECT_LT(std::filesystem::file_size(folder.file()), 100'000U);
  EXPECT_EQ(std::filesystem::file_size(folder.file() + "-wal"), 0U);
}

}  // namespace
}  // namespace orrery
