#include "live/store/schema.h"

#include <gtest/gtest.h>

#include "live/store/test_store.h"

namespace orrery {
namespace {

Database connected(const std::string& path) {
  Result<Database> database = Database::open(path, "");
  EXPECT_TRUE(database.ok());
  return std::move(database).value();
}

std::string prepare(const std::string& path, const std::vector<std::string>& steps) {
  Database database = connected(path);
  return why(prepare_file(database, steps));
}

std::int64_t ask(const std::string& path, const std::string& question) {
  const Result<std::int64_t> answer = connected(path).number(question);
  EXPECT_TRUE(answer.ok()) << answer.error().message;
  return answer.ok() ? answer.value() : -1;
}

const std::string kFirst = "CREATE TABLE a(x); INSERT INTO a VALUES(1)";
const std::string kSecond = "ALTER TABLE a ADD COLUMN y; UPDATE a SET y=x+1";

TEST(Schema, TakesAFileThroughTheStepsItLacks) {
  const TestFolder folder;
  EXPECT_EQ(prepare(folder.file(), {kFirst}), "");
  EXPECT_EQ(ask(folder.file(), "PRAGMA user_version"), 1);
  EXPECT_EQ(prepare(folder.file(), {kFirst, kSecond, "UPDATE a SET x=10*y"}), "");
  EXPECT_EQ(ask(folder.file(), "PRAGMA user_version"), 3);
  EXPECT_EQ(ask(folder.file(), "SELECT x FROM a"), 20);
  EXPECT_EQ(prepare(folder.file(), {kFirst, kSecond, "UPDATE a SET x=10*y"}), "");
  EXPECT_EQ(ask(folder.file(), "SELECT x FROM a"), 20);
}

TEST(Schema, KeepsWhatWasDoneBeforeAStepThatFails) {
  const TestFolder folder;
  const std::string half = "INSERT INTO a VALUES(7,7); INSERT INTO nowhere VALUES(1)";
  EXPECT_NE(prepare(folder.file(), {kFirst, kSecond, half}), "");
  EXPECT_EQ(ask(folder.file(), "PRAGMA user_version"), 2);
  EXPECT_EQ(ask(folder.file(), "SELECT count(*) FROM a"), 1);
  EXPECT_EQ(prepare(folder.file(), {kFirst, kSecond, "INSERT INTO a VALUES(7,7)"}), "");
  EXPECT_EQ(ask(folder.file(), "SELECT count(*) FROM a"), 2);
}

TEST(Schema, RefusesALaterVersionAndChangesNothing) {
  const TestFolder folder;
  EXPECT_EQ(prepare(folder.file(), {kFirst, kSecond}), "");
  EXPECT_NE(prepare(folder.file(), {kFirst}).find("version 2; this one knows 1"),
            std::string::npos);
  EXPECT_EQ(ask(folder.file(), "PRAGMA user_version"), 2);
}

TEST(Schema, AFileIsPreparedForDurabilityAndForShrinking) {
  const TestFolder folder;
  Database database = connected(folder.file());
  ASSERT_EQ(why(prepare_file(database)), "");
  EXPECT_EQ(database.text("PRAGMA journal_mode").value(), "wal");
  EXPECT_EQ(database.number("PRAGMA synchronous").value(), 2);
  EXPECT_EQ(database.number("PRAGMA auto_vacuum").value(), 2);
}

}  // namespace
}  // namespace orrery
