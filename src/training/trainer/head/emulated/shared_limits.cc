// Servers that several runs share: limits that move between them, and what is reported.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "training/trainer/head/emulated/server_emulation.h"
#include "training/trainer/head/membership/run_members.h"
#include "training/trainer/head/session/training_session.h"

namespace orrery {
namespace {

constexpr double kLeast_s = 0.2;  // a shorter time says nothing
constexpr double kNewest = 0.3;   // weight of the last second in smoothed paces

void smooth(double& value, double newest) {
  value = value > 0 ? value + kNewest * (newest - value) : newest;
}

}  // namespace

Status ServerEmulation::join_shared(std::vector<EmulatedSize>& sizes) {
  JoinServersMessage join{.name = run_.folder};
  const auto slots = static_cast<std::size_t>(worker_slots());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const EmulatedSize& size = sizes[i];
    join.requests.push_back(
        {.makes_updates = i >= slots,
         .limit = {.cpu = size.cores, .in = size.bytes_per_s, .out = size.bytes_per_s}});
  }
  TRY_ASSIGN(shared_, ServersLine::join(run_.io, run_.options.servers, join));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Load& limit = shared_->places()[i].limit;
    sizes[i] = {.cores = limit.cpu, .bytes_per_s = std::min(limit.in, limit.out)};
    quota_cores_ += limit.cpu;
  }
  shared_->handle({.limit = [this](int task, const Load& limit) { limit_moved(task, limit); },
                   .lost =
                       [this](const std::string& why) {
                         if (run_.over) return;
                         run_.warn(fmt::format(
                             "the shared servers' book is gone ({}): limits stay as they are, "
                             "and no looser mode is granted",
                             why));
                       }});
  return {};
}

void ServerEmulation::limit_moved(int task, const Load& limit) {
  if (run_.over || !active()) return;
  const EmulatedSize size{.cores = std::max(limit.cpu, 0.001),
                          .bytes_per_s = std::min(limit.in, limit.out)};
  const Status done = servers_->set_size(task, size);
  if (!done.ok()) return run_.fail(done.error());
  send_link_rates(task);
  ++run_.tally.limits_moved;
  const bool shard = task >= worker_slots();
  run_.log->process(
      seconds(run_.now()), shard ? "shard" : "worker", shard ? task - worker_slots() : task, 0,
      fmt::format("may use {:.4g} cores and {:.4g} bytes a second", size.cores, size.bytes_per_s));
}

// At the present pace. A run that ends at an accuracy is taken to last as long again as it has, if
// that is less.
double ServerEmulation::left_s(double gradients_per_s) const {
  const RunOptions& options = run_.options;
  const double gone = seconds(run_.now());
  double left = std::numeric_limits<double>::infinity();
  if (options.target > 0) left = gone;
  if (options.steps > 0 && gradients_per_s > 0) {
    // A gradient is a worker's part of the batch.
    const double rest = static_cast<double>(samples_limit(options) - session_.samples_used) *
                        options.workers / options.batch;
    left = std::min(left, std::max(0.0, rest) / gradients_per_s);
  }
  const auto limit_s = time_limit_s(options);
  if (limit_s.ok() && limit_s.value() > 0) {
    left = std::min(left, std::max(0.0, limit_s.value() - gone));
  }
  return std::isfinite(left) ? left : 0;
}

ServerUse ServerEmulation::shards_use() const {
  ServerUse used;
  for (const PartState& shard : members_.shards()) {
    const auto use = use_of(shard);
    if (!use) continue;
    used.cpu_s += use->cpu_s;
    used.in_bytes += use->in_bytes;
    used.out_bytes += use->out_bytes;
  }
  return used;
}

std::int64_t ServerEmulation::gradients_so_far() const {
  return (run_.tally.counts + session_.conductor->counts()).gradients;
}

// From here on, in the present mode.
void ServerEmulation::count_from_now() {
  share_.took.clear();
  share_.at = run_.now();
  share_.gradients = gradients_so_far();
  share_.used = shards_use();
  share_.waits_for_all = waits_for_all(session_.conductor->mode(), members_.joined());
  share_.counting = true;
}

void ServerEmulation::task_took(int slot, double took_s) {
  if (!shared_) return;
  ShareTally::Took& took = share_.took[slot];
  took.sum_s += took_s;
  ++took.tasks;
}

void ServerEmulation::mode_changes() {
  if (!shared_) return;
  report();
  count_from_now();
}

void ServerEmulation::report() {
  if (!shared_) return;
  JobReport report;
  report.task_s.resize(shared_->places().size());
  const bool trains = run_.training() && !run_.finishing;
  if (!trains || !share_.counting) {
    if (trains) count_from_now();
    return shared_->report(report);
  }
  report.waits_for_all = share_.waits_for_all;
  const std::int64_t gradients = gradients_so_far() - share_.gradients;
  const double passed = seconds(run_.now() - share_.at);
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
  count_from_now();
  shared_->report(report);
  shared_->tick(run_.now());
}

}  // namespace orrery
