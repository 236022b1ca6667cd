#include "cloud/ledger/ledger_schema.h"

#include <fmt/format.h>

#include <string>

namespace orrery {
namespace {

constexpr std::int64_t kLedgerFile = 0x4f524c47;  // "ORLG", in SQLite's field for the application

constexpr const char* kTables = R"sql(
CREATE TABLE jobs(
  name TEXT PRIMARY KEY,
  description TEXT NOT NULL,
  steps_target INTEGER,
  steps INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  ended_at TEXT,
  outcome TEXT
) STRICT;
CREATE TABLE servers(
  host_name TEXT PRIMARY KEY,
  ip TEXT NOT NULL,
  zone TEXT NOT NULL,
  region TEXT NOT NULL,
  job TEXT NOT NULL,
  role TEXT NOT NULL,
  incarnation INTEGER NOT NULL,
  machine_type TEXT NOT NULL,
  gpu TEXT NOT NULL,
  gpus INTEGER NOT NULL,
  class TEXT NOT NULL,
  price_usd_s REAL,
  on_demand_usd_s REAL,
  requested_at TEXT,
  running_at TEXT,
  notice_at TEXT,
  deadline_at TEXT,
  ended_at TEXT,
  status TEXT NOT NULL,
  end_reason TEXT NOT NULL,
  end_detail TEXT NOT NULL
) STRICT;
CREATE INDEX servers_of_job ON servers(job);
CREATE TABLE events(
  seq INTEGER PRIMARY KEY,
  t TEXT NOT NULL,
  server TEXT NOT NULL,
  provider_seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL,
  UNIQUE(server, provider_seq)
) STRICT;
CREATE TABLE checkpoints(
  job TEXT NOT NULL,
  step INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  save_s REAL NOT NULL,
  t TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY(job, step, t)
) STRICT;
CREATE TABLE membership(
  job TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  t TEXT NOT NULL,
  workers INTEGER NOT NULL,
  lr_scale REAL NOT NULL,
  PRIMARY KEY(job, epoch)
) STRICT;
CREATE TABLE costs(
  server TEXT PRIMARY KEY,
  seconds REAL NOT NULL,
  usd REAL NOT NULL
) STRICT;
)sql";

// The table of the published databases, with its texts. Parameter servers, evaluators and servers
// that never ran were not in it. A chief that was revoked had the text of its whole cluster.
constexpr const char* kPublishedView = R"sql(
CREATE VIEW cluster_status AS SELECT
  host_name,
  ip,
  zone AS region,
  job AS job_name,
  CASE status
    WHEN 'ended' THEN 'TERMINATED'
    WHEN 'stopping' THEN 'STOPPING'
    WHEN 'staging' THEN 'STAGING'
    WHEN 'running' THEN 'RUNNING'
    WHEN 'noticed' THEN 'RUNNING'
    ELSE 'PROVISIONING' END AS status,
  replace(substr(requested_at, 1, 26), 'T', ' ') AS creation_time,
  replace(substr(ended_at, 1, 26), 'T', ' ') AS termination_time,
  CASE role WHEN 'chief' THEN 'master' ELSE 'workers' END AS role,
  CASE
    WHEN end_detail IN ('Job completed', 'Job Completed') AND end_reason='completed' THEN end_detail
    WHEN end_reason IN ('completed', 'user-stop') THEN 'Job completed'
    WHEN end_reason='cluster-stop' OR (end_reason='revoked' AND role='chief')
      THEN 'Manually stopped due to revoked master'
    WHEN end_reason IN ('revoked', 'life-ended', 'host-error') THEN 'Revoked' END AS revoked
FROM servers
WHERE role IN ('chief', 'worker') AND end_reason NOT IN ('stock-out', 'quota', 'launch-error');
)sql";

}  // namespace

Status check_ledger(Database& database) {
  TRY_ASSIGN(const std::int64_t owner, database.number("PRAGMA application_id"));
  TRY_ASSIGN(const std::int64_t version, database.number("PRAGMA user_version"));
  TRY_ASSIGN(const std::int64_t published,
             database.number("SELECT count(*) FROM sqlite_schema "
                             "WHERE type='table' AND name='cluster_status'"));
  if (owner != kLedgerFile) {
    TRY_ASSIGN(const std::int64_t objects, database.number("SELECT count(*) FROM sqlite_schema"));
    if (objects == 0) {
      return Error{Code::FailedPrecondition, database.path() + ": is empty, and no ledger yet"};
    }
    return Error{
        Code::FailedPrecondition,
        database.path() +
            (published > 0 ? ": is a published database of one table; import it into a ledger: "
                             "orrery transient ledger NEW.db --import FILE"
                           : ": is an SQLite file of another program; give the path of a ledger")};
  }
  if (version != kLedgerVersion) {
    return Error{Code::FailedPrecondition,
                 fmt::format("{}: is a ledger of version {}; this Orrery reads version {}. Read it "
                             "with the Orrery that wrote it",
                             database.path(), version, kLedgerVersion)};
  }
  return {};
}

Status prepare_ledger(Database& database) {
  TRY(database.run("PRAGMA busy_timeout=5000"));
  TRY_ASSIGN(const std::int64_t owner, database.number("PRAGMA application_id"));
  TRY_ASSIGN(const std::int64_t version, database.number("PRAGMA user_version"));
  TRY_ASSIGN(const std::int64_t objects, database.number("SELECT count(*) FROM sqlite_schema"));
  const bool is_new = owner == 0 && version == 0 && objects == 0;
  if (!is_new) TRY(check_ledger(database));
  TRY_ASSIGN(const std::string mode, database.text("PRAGMA journal_mode=WAL"));
  if (mode != "wal") {
    return Error{Code::FailedPrecondition,
                 database.path() +
                     ": its file system cannot keep a write-ahead log; put the ledger on a "
                     "local disk"};
  }
  TRY(database.run("PRAGMA synchronous=FULL"));
  if (!is_new) return {};
  return database.transaction([&]() -> Status {
    TRY(database.run(kTables));
    TRY(database.run(kPublishedView));
    return database.run(fmt::format("PRAGMA application_id={};PRAGMA user_version={}", kLedgerFile,
                                    kLedgerVersion));
  });
}

}  // namespace orrery
