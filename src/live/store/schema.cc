#include "live/store/schema.h"

#include <fmt/format.h>

#include <vector>

namespace orrery {
namespace {

constexpr std::int64_t kOurs = 0x4f525259;  // "ORRY", in SQLite's field for the application

// True if the file is new. Takes the lock on it, which is then kept until the connection ends.
Result<bool> identify(Database& database, std::size_t version_known) {
  // Not "PRAGMA locking_mode" alone: that takes the lock only when something is read, and two
  // readers would keep each other from writing.
  TRY(database.run("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE"));
  TRY_ASSIGN(const std::int64_t owner, database.number("PRAGMA application_id"));
  TRY_ASSIGN(const std::int64_t version, database.number("PRAGMA user_version"));
  TRY_ASSIGN(const std::int64_t objects, database.number("SELECT count(*) FROM sqlite_schema"));
  TRY(database.run("COMMIT"));
  if (owner == 0 && version == 0 && objects == 0) return true;
  if (owner != kOurs) {
    return invalid(database.path() +
                   ": is an SQLite file of another program; give the path of a store or a new one");
  }
  if (version < 0 || static_cast<std::size_t>(version) > version_known) {
    return Error{Code::FailedPrecondition,
                 fmt::format("{}: was written by a later Orrery (version {}; this one knows {}): "
                             "run that one, or put back a copy from before",
                             database.path(), version, version_known)};
  }
  return false;
}

}  // namespace

std::span<const std::string> schema_steps() {
  static const std::vector<std::string> steps{
      "CREATE TABLE record("
      "  sequence INTEGER PRIMARY KEY,"
      "  time_ns INTEGER NOT NULL,"
      "  kind TEXT NOT NULL,"
      "  job INTEGER,"
      "  body BLOB NOT NULL,"
      "  crc INTEGER NOT NULL"
      ") STRICT;"
      "CREATE TABLE snapshot("
      "  sequence INTEGER PRIMARY KEY,"
      "  bytes BLOB NOT NULL,"
      "  crc INTEGER NOT NULL"
      ") STRICT;"
      "CREATE TABLE compaction(through INTEGER NOT NULL) STRICT;"
      "INSERT INTO compaction VALUES(0);",
      "CREATE TABLE chain(since INTEGER NOT NULL, before INTEGER NOT NULL) STRICT;"
      "INSERT INTO chain SELECT 1+max((SELECT coalesce(max(sequence),0) FROM record),"
      "                               (SELECT through FROM compaction)), 0;",
  };
  return steps;
}

Status prepare_file(Database& database, std::span<const std::string> steps,
                    const std::function<Status(bool is_new)>& check) {
  TRY_ASSIGN(const bool is_new, identify(database, steps.size()));
  if (check) TRY(check(is_new));
  // The first page is written by now, so a file that can shrink takes a VACUUM; of nothing, here.
  if (is_new) TRY(database.run("PRAGMA auto_vacuum=INCREMENTAL; VACUUM"));
  TRY_ASSIGN(const std::string mode, database.text("PRAGMA journal_mode=WAL"));
  if (mode != "wal") {
    return Error{Code::FailedPrecondition,
                 database.path() +
                     ": its file system cannot keep a write-ahead log (SQLite stays "
                     "with '" +
                     mode + "'): put the store on a local disk"};
  }
  TRY(database.run("PRAGMA synchronous=FULL"));
  // After a failed fsync the system may show bytes that are not on disk and never will be. What the
  // log holds now is written again, into the file, before anything is built upon it.
  TRY(database.checkpoint());
  TRY_ASSIGN(std::int64_t version, database.number("PRAGMA user_version"));
  for (; static_cast<std::size_t>(version) < steps.size(); ++version) {
    TRY(database.transaction([&] {
      return database.run(fmt::format("{};PRAGMA application_id={};PRAGMA user_version={}",
                                      steps[static_cast<std::size_t>(version)], kOurs,
                                      version + 1));
    }));
  }
  return {};
}

}  // namespace orrery
