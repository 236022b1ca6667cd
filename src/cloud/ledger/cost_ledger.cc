#include "cloud/ledger/cost_ledger.h"

#include <fmt/format.h>

#include <utility>

#include "cloud/ledger/ledger_rows.h"
#include "cloud/ledger/ledger_schema.h"
#include "cloud/ledger/utc_text.h"

namespace orrery {

Result<CostLedger> CostLedger::open(const std::string& path, const std::string& disk) {
  TRY_ASSIGN(Database database, Database::open(path, disk));
  TRY(prepare_ledger(database));
  return CostLedger(std::move(database));
}

Result<CostLedger> CostLedger::open_to_read(const std::string& path) {
  TRY_ASSIGN(Database database, Database::open_to_follow(path));
  TRY(check_ledger(database));
  return CostLedger(std::move(database));
}

Result<bool> CostLedger::exists(std::string_view sql, std::string_view name) {
  TRY_ASSIGN(Statement question, database_.prepare(sql));
  question.bind_text(1, name);
  return question.step();
}

Status CostLedger::insert_job(const LedgerJob& job) {
  TRY_ASSIGN(const bool is_there, exists("SELECT 1 FROM jobs WHERE name=?", job.name));
  if (is_there) {
    return Error{Code::AlreadyExists,
                 fmt::format("{}: there is a job '{}' already; give the new one another name",
                             path(), job.name)};
  }
  TRY_ASSIGN(Statement insert, database_.prepare("INSERT INTO jobs VALUES(?,?,?,?,?,?,?)"));
  BoundRow row(insert);
  row.text(job.name).text(job.description);
  job.steps_target ? row.number(*job.steps_target) : row.nothing();
  row.number(job.steps).time(job.started).time(job.ended);
  job.outcome.empty() ? row.nothing() : row.text(job.outcome);
  TRY(insert.step());
  return {};
}

Status CostLedger::start_job(const LedgerJob& job) {
  return database_.transaction([&] { return insert_job(job); });
}

Status CostLedger::end_job(std::string_view job, Time at, std::string_view outcome,
                           std::int64_t steps) {
  return database_.transaction([&]() -> Status {
    TRY_ASSIGN(const bool is_there, exists("SELECT 1 FROM jobs WHERE name=?", job));
    if (!is_there) {
      return Error{Code::NotFound, fmt::format("{}: there is no job '{}'", path(), job)};
    }
    TRY_ASSIGN(Statement update,
               database_.prepare("UPDATE jobs SET ended_at=?,outcome=?,steps=? WHERE name=?"));
    BoundRow row(update);
    row.time(at).text(outcome).number(steps).text(job);
    TRY(update.step());
    return {};
  });
}

Status CostLedger::put_server(const LedgerServer& row, bool is_new) {
  const ServerSpec& spec = row.server.spec;
  TRY_ASSIGN(const bool is_there, exists("SELECT 1 FROM servers WHERE host_name=?", spec.name));
  if (is_new && is_there) {
    return Error{Code::AlreadyExists,
                 fmt::format("{}: there is a server '{}' already; an index is never used twice",
                             path(), spec.name)};
  }
  TRY_ASSIGN(Statement put, database_.prepare("INSERT OR REPLACE INTO servers VALUES("
                                              "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  BoundRow bound(put);
  bind_server(bound, row);
  TRY(put.step());
  TRY_ASSIGN(Statement cost, database_.prepare("INSERT OR REPLACE INTO costs VALUES(?,?,?)"));
  BoundRow cost_row(cost);
  cost_row.text(spec.name).real(row.billed_s).real(row.usd);
  TRY(cost.step());
  return {};
}

Status CostLedger::add_server(const ServerSpec& spec,
                              std::optional<double> on_demand_usd_per_hour) {
  LedgerServer row;
  row.server.spec = spec;
  row.usd_per_s = spec.offer.price_usd_per_hour / 3600;
  if (on_demand_usd_per_hour) row.on_demand_usd_per_s = *on_demand_usd_per_hour / 3600;
  return database_.transaction([&] { return put_server(row, true); });
}

Result<bool> CostLedger::has_event(const ServerEvent& event) {
  TRY_ASSIGN(Statement question,
             database_.prepare("SELECT 1 FROM events WHERE server=? AND provider_seq=?"));
  BoundRow row(question);
  row.text(event.server).number(event.sequence);
  return question.step();
}

Status CostLedger::insert_event(const ServerEvent& event) {
  TRY_ASSIGN(Statement insert,
             database_.prepare("INSERT INTO events(t,server,provider_seq,kind,detail) "
                               "VALUES(?,?,?,?,?)"));
  BoundRow row(insert);
  row.time(event.at).text(event.server).number(event.sequence);
  row.text(text_of(event.kind)).text(event.detail);
  TRY(insert.step());
  return {};
}

Status CostLedger::record(const ServerEvent& event, std::string_view address) {
  return database_.transaction([&]() -> Status {
    TRY_ASSIGN(const bool is_here, has_event(event));
    if (is_here) return {};
    TRY_ASSIGN(LedgerServer row, server(event.server));
    TRY(apply(row.server, event));
    if (!address.empty()) row.server.address = address;
    if (has_ended(row.server)) row.end_detail = event.detail;
    row.usd = cost_usd(row.server, event.at);
    row.billed_s = billed_s(row.server, event.at);
    TRY(insert_event(event));
    return put_server(row, false);
  });
}

Status CostLedger::record(const LedgerCheckpoint& checkpoint) {
  return database_.transaction([&]() -> Status {
    TRY_ASSIGN(Statement insert,
               database_.prepare("INSERT OR REPLACE INTO checkpoints VALUES(?,?,?,?,?,?)"));
    BoundRow row(insert);
    row.text(checkpoint.job).number(checkpoint.step).number(checkpoint.bytes);
    row.real(seconds(checkpoint.save)).time(checkpoint.at).text(checkpoint.sha256);
    TRY(insert.step());
    return {};
  });
}

Status CostLedger::record(const LedgerMembership& membership) {
  return database_.transaction([&]() -> Status {
    TRY_ASSIGN(Statement insert,
               database_.prepare("INSERT OR REPLACE INTO membership VALUES(?,?,?,?,?)"));
    BoundRow row(insert);
    row.text(membership.job).number(membership.epoch).time(membership.at);
    row.number(membership.workers).real(membership.rate_scale);
    TRY(insert.step());
    return {};
  });
}

Status CostLedger::import(const std::vector<LedgerJob>& jobs,
                          const std::vector<LedgerServer>& servers) {
  return database_.transaction([&]() -> Status {
    for (const LedgerJob& job : jobs) TRY(insert_job(job));
    for (const LedgerServer& row : servers) TRY(put_server(row, true));
    return {};
  });
}

Result<std::int64_t> CostLedger::last_sequence() {
  return database_.number("SELECT coalesce(max(provider_seq),0) FROM events");
}

Result<LedgerServer> CostLedger::server(std::string_view name) {
  TRY_ASSIGN(Statement question,
             database_.prepare(std::string(kServerQuestion) + " WHERE servers.host_name=?"));
  question.bind_text(1, name);
  TRY_ASSIGN(const bool found, question.step());
  if (!found) {
    return Error{Code::NotFound, fmt::format("{}: there is no server '{}'", path(), name)};
  }
  return read_server(question, path());
}

Result<std::vector<LedgerServer>> CostLedger::servers(std::string_view job) {
  TRY_ASSIGN(Statement question,
             database_.prepare(std::string(kServerQuestion) +
                               " WHERE ?1='' OR servers.job=?1 ORDER BY servers.host_name"));
  question.bind_text(1, job);
  std::vector<LedgerServer> rows;
  while (true) {
    TRY_ASSIGN(const bool found, question.step());
    if (!found) return rows;
    TRY_ASSIGN(LedgerServer row, read_server(question, path()));
    rows.push_back(std::move(row));
  }
}

Result<std::vector<LedgerJob>> CostLedger::jobs() {
  TRY_ASSIGN(Statement question, database_.prepare("SELECT * FROM jobs ORDER BY started_at,name"));
  std::vector<LedgerJob> jobs;
  while (true) {
    TRY_ASSIGN(const bool found, question.step());
    if (!found) return jobs;
    LedgerJob job;
    job.name = question.bytes(0);
    job.description = question.bytes(1);
    if (!question.is_nothing(2)) job.steps_target = question.number(2);
    job.steps = question.number(3);
    TRY_ASSIGN(job.started, read_time(question, 4, path()));
    TRY_ASSIGN(job.ended, read_time(question, 5, path()));
    job.outcome = question.bytes(6);
    jobs.push_back(std::move(job));
  }
}

Result<std::vector<LedgerCheckpoint>> CostLedger::checkpoints(std::string_view job) {
  TRY_ASSIGN(Statement question,
             database_.prepare("SELECT * FROM checkpoints WHERE job=? ORDER BY t,step"));
  question.bind_text(1, job);
  std::vector<LedgerCheckpoint> rows;
  while (true) {
    TRY_ASSIGN(const bool found, question.step());
    if (!found) return rows;
    LedgerCheckpoint row{.job = std::string(job),
                         .step = question.number(1),
                         .bytes = question.number(2),
                         .save = from_seconds(question.real(3))};
    TRY_ASSIGN(row.at, read_time(question, 4, path()));
    row.sha256 = question.bytes(5);
    rows.push_back(std::move(row));
  }
}

Result<std::vector<LedgerMembership>> CostLedger::memberships(std::string_view job) {
  TRY_ASSIGN(Statement question,
             database_.prepare("SELECT * FROM membership WHERE job=? ORDER BY epoch"));
  question.bind_text(1, job);
  std::vector<LedgerMembership> rows;
  while (true) {
    TRY_ASSIGN(const bool found, question.step());
    if (!found) return rows;
    LedgerMembership row{.job = std::string(job), .epoch = question.number(1)};
    TRY_ASSIGN(row.at, read_time(question, 2, path()));
    row.workers = static_cast<int>(question.number(3));
    row.rate_scale = question.real(4);
    rows.push_back(std::move(row));
  }
}

}  // namespace orrery
