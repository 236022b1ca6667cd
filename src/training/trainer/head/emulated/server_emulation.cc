#include "training/trainer/head/emulated/server_emulation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "training/trainer/head/membership/run_members.h"
#include "training/trainer/head/session/training_session.h"

namespace orrery {
namespace {

constexpr double kSpareCores = 0.8;  // of the machine, for the workers together without --cores
constexpr double kEvaluatorCores = 0.1, kHeadCores = 0.1, kShardCoresLeast = 0.15;

}  // namespace

ServerEmulation::ServerEmulation(RunContext& run, TrainingSession& session, RunMembers& members)
    : run_(run), session_(session), members_(members), script_timer_(run.io) {}

Status ServerEmulation::open(int workers_first) {
  workers_first_ = workers_first;
  if (!emulates_servers(run_.options)) return {};
  TRY_ASSIGN(const std::vector<EmulatedSize> sizes, server_sizes());
  TRY_ASSIGN(servers_,
             make_servers(
                 {.sizes = sizes, .cpu = run_.options.cpu_means, .link = run_.options.link_means}));
  TRY(set_cpu_of_all([](const EmulatedSize& server) { return 1 / server.cores; }));
  load_ = watch_load(*servers_, quota_cores_);
  return load_script();
}

Status ServerEmulation::load_script() {
  const RunOptions& options = run_.options;
  if (options.stragglers.empty()) return {};
  TRY_ASSIGN(const double limit_s, time_limit_s(options));
  const Duration horizon = limit_s > 0 ? from_seconds(limit_s) : std::chrono::hours(24);
  const std::uint64_t seed =
      options.straggler_seed != 0 ? options.straggler_seed : options.learner.seed;
  TRY_ASSIGN(script_, read_straggler_script(options.stragglers, worker_slots(), seed, horizon));
  return {};
}

Status ServerEmulation::begin_training() {
  if (!active()) return {};
  if (session_.number == 1) {
    TRY(set_cpu_of_all([](const EmulatedSize&) { return 1.0; }));
    load_ = watch_load(*servers_, quota_cores_);
  }
  apply_script();
  return {};
}

void ServerEmulation::end_session() {
  if (shared_) shared_->restart();
  share_.counting = false;
}

Status ServerEmulation::set_cpu_of_all(double (*share)(const EmulatedSize&)) {
  if (servers_->cpu_means() == "none") return {};
  for (int server = 0; server < servers_->count(); ++server) {
    TRY(servers_->set_share(server, ServerResource::Cpu, share(servers_->size(server))));
  }
  return {};
}

void ServerEmulation::apply_script() {
  while (next_step_ < script_.steps.size() && script_.steps[next_step_].at <= run_.now()) {
    const StragglerStep& step = script_.steps[next_step_++];
    const Status done = servers_->set_share(step.server, step.resource, step.share);
    if (!done.ok()) return run_.fail(done.error());
    send_link_rates(step.server);
  }
  if (next_step_ >= script_.steps.size()) return;
  script_timer_.expires_after(script_.steps[next_step_].at - run_.now());
  script_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !run_.over) apply_script();
  });
}

int ServerEmulation::worker_slots() const {
  return std::max({run_.options.workers, run_.options.workers_most, workers_first_});
}

int ServerEmulation::shard_server(int shard) const {
  return active() ? worker_slots() + (shared_ ? shard : 0) : -1;
}

int ServerEmulation::evaluator_server() const { return active() ? servers_->count() - 1 : -1; }

std::optional<ServerUse> ServerEmulation::use_of(const PartState& part) const {
  if (!active() || part.server < 0) return std::nullopt;
  auto use = servers_->use(part.server);
  if (!use.ok()) return std::nullopt;
  return use.value();
}

void ServerEmulation::send_link_rate(const PartState& part) const {
  if (!active() || part.server < 0 || servers_->link_means() != "token-bucket") return;
  part.line->send(MessageType::SetLink, 0,
                  LinkMessage{servers_->transport_bytes_per_s(part.server)});
}

void ServerEmulation::send_link_rates(int server) const {
  const auto send = [&](const PartState& part) {
    if (part.server == server && part.line) send_link_rate(part);
  };
  for (const auto& [id, worker] : members_.workers()) send(worker);
  for (const PartState& shard : members_.shards()) send(shard);
}

void ServerEmulation::sample() {
  if (load_) load_->sample();
}

std::vector<EmulatedSize> ServerEmulation::requested_sizes() const {
  const RunOptions& options = run_.options;
  const int slots = worker_slots();
  const double machine = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  const double cores = options.cores > 0 ? options.cores : machine * kSpareCores / slots;
  std::vector<EmulatedSize> sizes(static_cast<std::size_t>(slots),
                                  {.cores = cores, .bytes_per_s = options.link});
  const bool shares = !options.servers.empty();
  const int shards = shares ? options.shards : 1;
  // Shards on servers of their own have what is left. Their link is not what is measured, so it is
  // as wide as all workers' together.
  const double left = shares ? cores : machine - cores * slots - kEvaluatorCores - kHeadCores;
  const EmulatedSize shard{
      .cores = options.shard_cores > 0 ? options.shard_cores : std::max(kShardCoresLeast, left),
      .bytes_per_s = options.shard_link > 0 && options.link > 0 ? options.shard_link
                                                                : options.link * slots / shards};
  if (!shares || !run_.all_reduce()) {
    sizes.insert(sizes.end(), static_cast<std::size_t>(shards), shard);
  }
  return sizes;
}

Result<std::vector<EmulatedSize>> ServerEmulation::server_sizes() {
  const RunOptions& options = run_.options;
  std::vector<EmulatedSize> sizes = requested_sizes();
  quota_cores_ = kEvaluatorCores;
  if (!options.servers.empty()) {
    TRY(join_shared(sizes));
  } else {
    const double shards = options.shard_cores > 0 ? options.shard_cores : kShardCoresLeast;
    quota_cores_ += sizes.front().cores * worker_slots() + shards;
  }
  sizes.push_back({.cores = kEvaluatorCores, .bytes_per_s = 0});
  return sizes;
}

void ServerEmulation::describe(TrainingResult& result) const {
  if (!active()) return;
  result.cpu_means = servers_->cpu_means();
  result.link_means = servers_->link_means();
  result.load = load_->load();
}

}  // namespace orrery
