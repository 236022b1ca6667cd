#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/database/database.h"
#include "base/result.h"
#include "cloud/provider/server.h"

namespace orrery {

struct LedgerJob {
  std::string name;
  std::string description{};
  std::optional<std::int64_t> steps_target{};
  std::int64_t steps = 0;
  Time started = kNever;
  Time ended = kNever;
  std::string outcome{};  // "completed", "failed", ...; empty: it goes on
};

// A row of a server. Prices stand in the row: a price file of another day changes nothing.
struct LedgerServer {
  Server server;                      // its offer's price is 0 if `usd_per_s` is not known
  std::optional<double> usd_per_s{};  // nothing: not known, of imported rows
  std::optional<double> on_demand_usd_per_s{};  // of the same machine; nothing: not known
  std::string end_detail{};                     // the provider's own words
  double billed_s = 0;                          // until its last event
  double usd = 0;
};

struct LedgerCheckpoint {
  std::string job;
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  Duration save{};
  Time at{};
  std::string sha256{};
};

struct LedgerMembership {
  std::string job;
  std::int64_t epoch = 0;
  Time at{};
  int workers = 0;
  double rate_scale = 1;  // what the base learning rate is multiplied by
};

// Jobs on transient servers, their servers, events and costs in one SQLite file with mode 0600
// (docs/formats/ledger.md). Each call is one transaction: it is on disk when it returns, or nothing
// of it is. Instants count from the Unix epoch. Other connections may read meanwhile. For one
// thread at a time.
class CostLedger {
 public:
  // Makes the file if there is none. A file of another program or version is FailedPrecondition.
  // `disk` names the SQLite VFS; empty: the system's own.
  static Result<CostLedger> open(const std::string& path, const std::string& disk = {});
  static Result<CostLedger> open_to_read(const std::string& path);

  // AlreadyExists: there is a job of that name.
  Status start_job(const LedgerJob& job);
  Status end_job(std::string_view job, Time at, std::string_view outcome, std::int64_t steps);

  // A server that is about to be asked for. AlreadyExists: there is one of that name.
  // `on_demand_usd_per_hour` is the price of the same machine on-demand, if it is known.
  Status add_server(const ServerSpec& spec, std::optional<double> on_demand_usd_per_hour);
  // Brings the server's row and its cost forward. An event that is here already changes nothing, so
  // events may be recorded again after a crash. `address`: of a server that runs now.
  Status record(const ServerEvent& event, std::string_view address = {});
  Status record(const LedgerCheckpoint& checkpoint);
  Status record(const LedgerMembership& membership);

  // Rows as they are, all or none.
  Status import(const std::vector<LedgerJob>& jobs, const std::vector<LedgerServer>& servers);

  // The highest sequence of the provider's events here; 0: none.
  Result<std::int64_t> last_sequence();
  Result<std::vector<LedgerJob>> jobs();
  // By name. All jobs if `job` is empty.
  Result<std::vector<LedgerServer>> servers(std::string_view job = {});
  Result<std::vector<LedgerCheckpoint>> checkpoints(std::string_view job);
  Result<std::vector<LedgerMembership>> memberships(std::string_view job);

  const std::string& path() const { return database_.path(); }

 private:
  explicit CostLedger(Database database) : database_(std::move(database)) {}

  Status insert_job(const LedgerJob& job);
  Status put_server(const LedgerServer& row, bool is_new);
  Result<LedgerServer> server(std::string_view name);
  Result<bool> has_event(const ServerEvent& event);
  Status insert_event(const ServerEvent& event);
  Result<bool> exists(std::string_view sql, std::string_view name);

  Database database_;
};

}  // namespace orrery
