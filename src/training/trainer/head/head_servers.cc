#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "training/trainer/head/head.h"
#include "training/trainer/head/progress_line.h"

namespace orrery {
namespace {

constexpr double kSpareCores = 0.8;  // of the machine, shared out among workers without --cores
constexpr double kEvaluatorCores = 0.1, kHeadCores = 0.1, kShardCoresLeast = 0.15;
constexpr double kLeast_s = 0.2;  // a shorter time says nothing
constexpr double kNewest = 0.3;   // weight of the last second in smoothed paces

void smooth(double& value, double seen) {
  value = value > 0 ? value + kNewest * (seen - value) : seen;
}

}  // namespace

int Head::worker_slots() const {
  return std::max({options_.workers, options_.workers_most, workers_first_});
}

// Places for workers, then the shards' (one for all where servers are not shared), the evaluator's.
int Head::shard_server(int shard) const { return worker_slots() + (shared_ ? shard : 0); }

std::vector<EmulatedSize> Head::wished_sizes() const {
  const int slots = worker_slots();
  const double machine = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  const double cores = options_.cores > 0 ? options_.cores : machine * kSpareCores / slots;
  std::vector<EmulatedSize> sizes(static_cast<std::size_t>(slots),
                                  {.cores = cores, .bytes_per_s = options_.link});
  const bool shares = !options_.servers.empty();
  const int shards = shares ? options_.shards : 1;
  // By themselves the shards have what is left, and their link is not what is measured, so it is as
  // wide as all workers' together.
  const double left = shares ? cores : machine - cores * slots - kEvaluatorCores - kHeadCores;
  const EmulatedSize shard{
      .cores = options_.shard_cores > 0 ? options_.shard_cores : std::max(kShardCoresLeast, left),
      .bytes_per_s = options_.shard_link > 0 && options_.link > 0 ? options_.shard_link
                                                                  : options_.link * slots / shards};
  if (!shares || architecture(options_) == Architecture::ParameterServers) {
    sizes.insert(sizes.end(), static_cast<std::size_t>(shards), shard);
  }
  return sizes;
}

Result<std::vector<EmulatedSize>> Head::server_sizes() {
  std::vector<EmulatedSize> sizes = wished_sizes();
  quota_cores_ = kEvaluatorCores;
  if (!options_.servers.empty()) {
    JoinServersMessage join{.name = folder_};
    const auto slots = static_cast<std::size_t>(worker_slots());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const EmulatedSize& size = sizes[i];
      join.wishes.push_back(
          {.makes_updates = i >= slots,
           .limit = {.cpu = size.cores, .in = size.bytes_per_s, .out = size.bytes_per_s}});
    }
    TRY_ASSIGN(shared_, ServersLine::join(io_, options_.servers, join));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Load& limit = shared_->places()[i].limit;
      sizes[i] = {.cores = limit.cpu, .bytes_per_s = std::min(limit.in, limit.out)};
      quota_cores_ += limit.cpu;
    }
    shared_->handle({.limit = [this](int task, const Load& limit) { limit_moved(task, limit); },
                     .lost =
                         [this](const std::string& why) {
                           if (over_) return;
                           tally_.warnings.push_back(fmt::format(
                               "the shared servers' book is gone ({}): limits stay as they are, "
                               "and no looser mode is granted",
                               why));
                           progress_->say(tally_.warnings.back());
                         }});
  } else {
    const double shards = options_.shard_cores > 0 ? options_.shard_cores : kShardCoresLeast;
    quota_cores_ += sizes.front().cores * worker_slots() + shards;
  }
  sizes.push_back({.cores = kEvaluatorCores, .bytes_per_s = 0});
  return sizes;
}

// The rates of links that the transport itself has to keep to.
void Head::tell_link(int server) {
  if (servers_->link_means() != "token-bucket") return;
  const LinkMessage message{servers_->transport_bytes_per_s(server)};
  const auto tell = [&](const PartState& part) {
    if (part.server == server && part.line) part.line->send(MessageType::SetLink, 0, message);
  };
  for (const auto& [id, worker] : workers_) tell(worker);
  for (const PartState& shard : shards_) tell(shard);
}

void Head::limit_moved(int task, const Load& limit) {
  if (over_ || !servers_) return;
  const EmulatedSize size{.cores = std::max(limit.cpu, 0.001),
                          .bytes_per_s = std::min(limit.in, limit.out)};
  const Status done = servers_->set_size(task, size);
  if (!done.ok()) return end_with(done.error());
  tell_link(task);
  ++tally_.limits_moved;
  const bool shard = task >= worker_slots();
  log_->process(
      seconds(now()), shard ? "shard" : "worker", shard ? task - worker_slots() : task, 0,
      fmt::format("may use {:.4g} cores and {:.4g} bytes a second", size.cores, size.bytes_per_s));
}

// At the present pace; of a run that ends at an accuracy: as long again as it has taken, if that is
// less.
double Head::left_s(double gradients_per_s) const {
  const double gone = seconds(now());
  double left = std::numeric_limits<double>::infinity();
  if (options_.target > 0) left = gone;
  if (options_.steps > 0 && gradients_per_s > 0) {
    // A gradient is a worker's part of the batch.
    const double rest = static_cast<double>(samples_limit(options_) - samples_used_) *
                        options_.workers / options_.batch;
    left = std::min(left, std::max(0.0, rest) / gradients_per_s);
  }
  if (time_limit_s_ > 0) left = std::min(left, std::max(0.0, time_limit_s_ - gone));
  return std::isfinite(left) ? left : 0;
}

ServerUse Head::shards_use() const {
  ServerUse used;
  for (const PartState& shard : shards_) {
    const auto use = servers_->use(shard.server);
    if (!use.ok()) continue;
    used.cpu_s += use.value().cpu_s;
    used.in_bytes += use.value().in_bytes;
    used.out_bytes += use.value().out_bytes;
  }
  return used;
}

// From here on, in the present mode.
void Head::count_for_servers() {
  const auto present = static_cast<int>(
      std::ranges::count_if(workers_, [](const auto& w) { return w.second.joined; }));
  share_.took.clear();
  share_.at = now();
  share_.gradients = (tally_.counts + conductor_->counts()).gradients;
  share_.used = shards_use();
  share_.waits_for_all = waits_for_all(conductor_->mode(), present);
  share_.counting = true;
}

// Before a change of the mode too: what was counted is about one mode alone.
void Head::report_to_servers() {
  JobReport report;
  report.task_s.resize(shared_->places().size());
  if (!training_ || finishing_ || !share_.counting) {
    if (training_ && !finishing_) count_for_servers();
    return shared_->report(report);
  }
  report.waits_for_all = share_.waits_for_all;
  const std::int64_t gradients =
      (tally_.counts + conductor_->counts()).gradients - share_.gradients;
  const double passed = seconds(now() - share_.at);
  if (passed >= kLeast_s && gradients > 0) {
    const double per_s = static_cast<double>(gradients) / passed;
    const ServerUse used = shards_use();
    smooth(share_.gradients_per_s, per_s);
    if (report.waits_for_all) smooth(share_.ssgd_gradients_per_s, per_s);
    if (share_.ssgd_gradients_per_s > 0) report.rate_ratio = per_s / share_.ssgd_gradients_per_s;
    report.used = Load{.cpu = (used.cpu_s - share_.used.cpu_s) / passed,
                       .in = (used.in_bytes - share_.used.in_bytes) / passed,
                       .out = (used.out_bytes - share_.used.out_bytes) / passed}
                      .positive();
  }
  report.left_s = left_s(share_.gradients_per_s);
  for (const auto& [slot, took] : share_.took) {
    if (slot < 0 || slot >= worker_slots()) continue;
    report.task_s[static_cast<std::size_t>(slot)] = took.sum_s / took.tasks;
  }
  count_for_servers();
  shared_->report(report);
  shared_->tick(now());
}

}  // namespace orrery
