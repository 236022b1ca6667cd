#include "cloud/measurements/server_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/database/database.h"
#include "base/plain_text.h"
#include "cloud/measurements/table.h"
#include "workload/text/date_text.h"

namespace orrery {
namespace {

constexpr double kUptime_s_max = 1e9;
constexpr int kRunMax = 1'000'000;

// The part of `text` after the last `count` dashes; nothing if it has fewer.
std::optional<std::size_t> begin_of_last(std::string_view text, int count) {
  std::size_t at = text.size();
  for (int i = 0; i < count; ++i) {
    at = at == 0 ? std::string_view::npos : text.rfind('-', at - 1);
    if (at == std::string_view::npos) return std::nullopt;
  }
  return at + 1;
}

// "spot2-us-east1-c-run1-worker-0"
Result<MeasuredServer> parse_server_name(std::string_view name) {
  MeasuredServer server;
  server.name = name;
  const std::size_t run = name.rfind("-run");
  if (run == std::string_view::npos) {
    return invalid(
        fmt::format("'{}' is no name of a server; write ZONE-runN-master or "
                    "ZONE-runN-worker-N",
                    plain_text(name.substr(0, 60))));
  }
  const std::string_view rest = name.substr(run + 4);
  const std::size_t dash = rest.find('-');
  const auto number = parse_integer(rest.substr(0, dash), 0, kRunMax);
  const std::string_view role = dash == std::string_view::npos ? "" : rest.substr(dash + 1);
  server.master = role == "master";
  if (!number.ok() || (!server.master && !role.starts_with("worker-"))) {
    return invalid(fmt::format("'{}' ends with neither runN-master nor runN-worker-N",
                               plain_text(name.substr(0, 60))));
  }
  TRY_ASSIGN(server.key.zone, zone_without_prefix(name.substr(0, run)));
  server.key.run = static_cast<int>(number.value());
  return server;
}

Result<MeasuredEnd> parse_end(std::string_view text) {
  if (text == "Job completed" || text == "Job Completed") return MeasuredEnd::Completed;
  if (text == "Revoked") return MeasuredEnd::Revoked;
  if (text == "Manually stopped due to revoked master") return MeasuredEnd::MasterRevoked;
  if (text.empty()) return MeasuredEnd::Unknown;
  return invalid(
      fmt::format("'{}' is no known reason for the end of a server; write Revoked, Job "
                  "completed or Manually stopped due to revoked master",
                  plain_text(text.substr(0, 60))));
}

constexpr std::string_view kStatusColumns[] = {"host_name", "status", "creation_time",
                                               "termination_time", "role"};

// True if the table has the column `revoked`; an error if another one is missing.
Result<bool> check_schema(Database& database) {
  TRY_ASSIGN(Statement question,
             database.prepare("SELECT name FROM pragma_table_info('cluster_status')"));
  std::set<std::string, std::less<>> columns;
  while (true) {
    TRY_ASSIGN(const bool more, question.step());
    if (!more) break;
    columns.emplace(question.bytes(0));
  }
  if (columns.empty()) {
    return invalid(database.path() +
                   ": has no table cluster_status; give a database of the published runs");
  }
  for (const std::string_view column : kStatusColumns) {
    if (!columns.contains(column)) {
      return invalid(
          fmt::format("{}: table cluster_status has no column '{}'; this is another "
                      "version than the published one",
                      database.path(), column));
    }
  }
  return columns.contains("revoked");
}

Result<MeasuredServer> take_status(const Statement& row) {
  TRY_ASSIGN(MeasuredServer server, parse_server_name(row.bytes(0)));
  if (row.bytes(1) == "RUNNING") {
    server.end = MeasuredEnd::Running;
    return server;
  }
  TRY_ASSIGN(server.end, parse_end(row.bytes(4)));
  const auto created = parse_date(row.bytes(2)), ended = parse_date(row.bytes(3));
  if (!created.ok()) return invalid("creation_time: " + created.error().message);
  if (!ended.ok()) return invalid("termination_time: " + ended.error().message);
  if (ended.value() < created.value()) {
    return invalid(fmt::format("'{}' ends before it was created", plain_text(server.name)));
  }
  server.uptime_s = seconds(ended.value() - created.value());
  return server;
}

}  // namespace

bool was_revoked(const MeasuredServer& server) {
  return server.end == MeasuredEnd::Revoked ||
         (server.master && server.end == MeasuredEnd::MasterRevoked);
}

Result<std::string> zone_without_prefix(std::string_view text) {
  const auto begin = begin_of_last(text, 2);
  if (!begin || *begin < 2) {
    return invalid(fmt::format("'{}' holds no zone; write one such as us-east1-c",
                               plain_text(text.substr(0, 60))));
  }
  const std::size_t before = text.rfind('-', *begin - 2);
  return std::string(before == std::string_view::npos ? text : text.substr(before + 1));
}

Result<std::vector<MeasuredServer>> read_server_table(const std::string& path) {
  static constexpr std::string_view kColumns[] = {"VM_name", "Uptime", "Revoked"};
  static constexpr std::size_t kRequired[] = {0, 1};
  std::vector<MeasuredServer> servers;
  TRY(for_each_row(path, kColumns, kRequired, [&](const Row& row) -> Status {
    auto server = parse_server_name(row[0]);
    if (!server.ok()) return row.wrong(0, server.error().message);
    TRY_ASSIGN(const double uptime_s, row.number(1, 0, kUptime_s_max));
    const auto end = parse_end(row[2]);
    if (!end.ok()) return row.wrong(2, end.error().message);
    MeasuredServer& taken = servers.emplace_back(std::move(server).value());
    taken.uptime_s = uptime_s;
    taken.end = end.value();
    taken.line = row.line();
    return {};
  }));
  return servers;
}

Result<std::vector<MeasuredServer>> read_cluster_status(const std::string& path) {
  TRY_ASSIGN(Database database, Database::open_to_read(path));
  TRY_ASSIGN(const bool has_reasons, check_schema(database));
  TRY_ASSIGN(Statement rows, database.prepare(fmt::format(
                                 "SELECT host_name, status, creation_time, termination_time, {} "
                                 "FROM cluster_status ORDER BY rowid",
                                 has_reasons ? "revoked" : "NULL")));
  std::vector<MeasuredServer> servers;
  while (true) {
    TRY_ASSIGN(const bool more, rows.step());
    if (!more) return servers;
    const auto line = static_cast<std::int64_t>(servers.size()) + 1;
    auto server = take_status(rows);
    if (!server.ok()) {
      return std::move(server).error().at(fmt::format("{}: row {} of cluster_status", path, line));
    }
    servers.push_back(std::move(server).value());
    servers.back().line = line;
  }
}

}  // namespace orrery
