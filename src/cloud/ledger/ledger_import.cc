#include "cloud/ledger/ledger_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <vector>

#include "base/plain_text.h"
#include "cloud/ledger/ledger_rows.h"
#include "cloud/ledger/utc_text.h"

namespace orrery {
namespace {

constexpr std::string_view kClusterStopped = "Manually stopped due to revoked master";
constexpr std::size_t kRowsMax = 1'000'000;

// A database with the published table, and what its texts mean.
class PublishedTable {
 public:
  PublishedTable(Database& database, const LedgerImport& how) : database_(database), how_(how) {}

  Status read() {
    TRY(check_columns());
    TRY_ASSIGN(Statement question,
               database_.prepare(fmt::format(
                   "SELECT host_name,ip,region,job_name,status,creation_time,termination_time,role,"
                   "{} FROM cluster_status ORDER BY rowid",
                   has_reasons_ ? "revoked" : "NULL")));
    while (true) {
      TRY_ASSIGN(const bool found, question.step());
      if (!found) break;
      if (servers_.size() == kRowsMax) return wrong(fmt::format("more than {} rows", kRowsMax));
      TRY(read_row(question));
    }
    if (servers_.empty()) return wrong("the table cluster_status is empty");
    return {};
  }

  std::vector<LedgerJob> jobs() const {
    std::vector<LedgerJob> jobs;
    for (const auto& [name, job] : jobs_) jobs.push_back(job);
    return jobs;
  }
  const std::vector<LedgerServer>& servers() const { return servers_; }
  std::size_t without_end() const { return without_end_; }

 private:
  Error wrong(std::string_view what) const {
    return invalid(fmt::format("{}: {}", database_.path(), what));
  }
  Error wrong_row(std::string_view what) const {
    return wrong(fmt::format("row {} of cluster_status: {}", servers_.size() + 1, what));
  }

  Status check_columns() {
    std::set<std::string, std::less<>> columns;
    TRY_ASSIGN(Statement question,
               database_.prepare("SELECT name FROM pragma_table_info('cluster_status')"));
    while (true) {
      TRY_ASSIGN(const bool found, question.step());
      if (!found) break;
      columns.emplace(question.bytes(0));
    }
    if (columns.empty()) {
      return wrong("has no table cluster_status; give a database of the published runs");
    }
    for (const char* column : {"host_name", "ip", "region", "job_name", "status", "creation_time",
                               "termination_time", "role"}) {
      if (!columns.contains(column)) {
        return wrong(fmt::format("the table cluster_status has no column '{}'", column));
      }
    }
    has_reasons_ = columns.contains("revoked");
    return {};
  }

  Status read_row(const Statement& row) {
    LedgerServer read;
    Server& server = read.server;
    server.spec.name = plain_text(row.bytes(0));
    server.address = plain_text(row.bytes(1));
    server.spec.job = plain_text(row.bytes(3));
    if (server.spec.name.empty() || server.spec.job.empty()) {
      return wrong_row("has no host_name or job_name");
    }
    if (!names_.insert(server.spec.name).second) {
      return wrong_row(fmt::format("host_name '{}' is there twice", server.spec.name));
    }
    TRY(read_role(row, server.spec));
    TRY(read_end(row, read));
    TRY(add_price(plain_text(row.bytes(2)), read));
    add_to_job(server);
    servers_.push_back(std::move(read));
    return {};
  }

  Status read_role(const Statement& row, ServerSpec& spec) const {
    const std::string_view role = row.bytes(7);
    if (role != "master" && role != "workers") {
      return wrong_row(fmt::format("role '{}'; it is master or workers", plain_text(role)));
    }
    spec.role = role == "master" ? "chief" : "worker";
    const std::size_t dash = spec.name.rfind('-');
    const std::string_view number = std::string_view(spec.name).substr(dash + 1);
    int index = 0;
    std::from_chars(number.data(), number.data() + number.size(), index);
    spec.index = role == "master" ? 0 : index + 1;
    return {};
  }

  Status read_end(const Statement& row, LedgerServer& read) {
    Server& server = read.server;
    const auto created = time_of_utc(row.bytes(5));
    if (!created) {
      return wrong_row(fmt::format("creation_time '{}' is no instant", plain_text(row.bytes(5))));
    }
    // The time of running was not kept; the authors' uptimes begin with the request.
    server.requested = server.running = *created;
    const std::string_view status = row.bytes(4);
    if (status != "RUNNING" && status != "TERMINATED") {
      return wrong_row(fmt::format("status '{}'; it is RUNNING or TERMINATED", plain_text(status)));
    }
    server.state = ServerState::Running;
    if (status == "RUNNING" || row.is_nothing(6)) {
      ++without_end_;
      return {};
    }
    const auto ended = time_of_utc(row.bytes(6));
    if (!ended || *ended < *created) {
      return wrong_row(fmt::format("termination_time '{}' is no instant after the creation",
                                   plain_text(row.bytes(6))));
    }
    server.state = ServerState::Ended;
    server.ended = *ended;
    return read_reason(row, read);
  }

  Status read_reason(const Statement& row, LedgerServer& read) const {
    Server& server = read.server;
    read.end_detail = plain_text(row.bytes(8));
    if (read.end_detail.empty() || read.end_detail == "Job completed" ||
        read.end_detail == "Job Completed") {
      server.end_reason = EndReason::Completed;
    } else if (read.end_detail == "Revoked") {
      server.end_reason = EndReason::Revoked;
    } else if (read.end_detail == kClusterStopped) {
      // The master's own "Revoked" was overwritten by this text.
      server.end_reason = server.spec.role == "chief" ? EndReason::Revoked : EndReason::ClusterStop;
    } else {
      return wrong_row(fmt::format("revoked '{}' is none of the published texts", read.end_detail));
    }
    return {};
  }

  Status add_price(const std::string& zone, LedgerServer& read) const {
    Offer& offer = read.server.spec.offer;
    offer.zone = zone;
    offer.gpu = how_.gpu;
    offer.gpus = how_.gpu.empty() ? 0 : how_.gpus;
    offer.offer_class = how_.offer_class;
    if (how_.prices == nullptr) return {};
    auto priced = find_offer(*how_.prices, zone, offer.gpu, offer.gpus, offer.offer_class);
    if (!priced.ok()) return std::move(priced).error().at(database_.path());
    offer = std::move(priced).value();
    read.usd_per_s = offer.price_usd_per_hour / 3600;
    if (const auto twin = same_on_demand(*how_.prices, offer)) {
      read.on_demand_usd_per_s = twin->price_usd_per_hour / 3600;
    }
    if (!has_ended(read.server)) return {};
    read.billed_s = billed_s(read.server, read.server.ended);
    read.usd = cost_usd(read.server, read.server.ended);
    return {};
  }

  void add_to_job(const Server& server) {
    LedgerJob& job = jobs_[server.spec.job];
    const bool is_first = job.name.empty();
    if (is_first) {
      job.name = server.spec.job;
      job.description = "imported from " + database_.path();
      job.outcome = "completed";
    }
    job.started = is_first ? server.requested : std::min(job.started, server.requested);
    if (!has_ended(server)) {
      job.outcome.clear();
      job.ended = kNever;
      return;
    }
    if (job.outcome.empty()) return;
    job.ended = job.ended == kNever ? server.ended : std::max(job.ended, server.ended);
    if (server.spec.role == "chief" && server.end_reason == EndReason::Revoked) {
      job.outcome = "chief-revoked";
    }
  }

  Database& database_;
  const LedgerImport& how_;
  bool has_reasons_ = false;
  std::map<std::string, LedgerJob> jobs_{};
  std::vector<LedgerServer> servers_{};
  std::set<std::string> names_{};
  std::size_t without_end_ = 0;
};

}  // namespace

Result<ImportedRows> import_published(const std::string& path, const LedgerImport& how,
                                      CostLedger& ledger) {
  TRY_ASSIGN(Database database, Database::open_to_read(path));
  PublishedTable table(database, how);
  TRY(table.read());
  TRY(ledger.import(table.jobs(), table.servers()));
  return ImportedRows{.jobs = table.jobs().size(),
                      .servers = table.servers().size(),
                      .without_end = table.without_end()};
}

}  // namespace orrery
