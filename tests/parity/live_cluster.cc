#include "parity/live_cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/invariant.h"

namespace orrery {
namespace {

constexpr Duration kLease = std::chrono::minutes(10);
constexpr int kRoundsAtOnceMax = 100;

}  // namespace

LiveCluster::LiveCluster(const Scenario& scenario, const ChosenPolicy& policy, Wire& wire)
    : scenario_(scenario),
      wire_(wire),
      core_({.policy = policy, .lease = kLease, .specs = scenario.specs}) {
  INVARIANT(core_.begin(1, now_).ok(), "the policy is one there is");
  machines_.reserve(scenario.machines.nodes.size());
  for (const Node& node : scenario.machines.nodes) add_machine(node);
  talk();
}

void LiveCluster::add_machine(const Node& node) {
  orrery::Machine has{
      .numa = {{.id = 0}}, .memory_bytes = node.memory_bytes, .hostname = node.name};
  for (int cpu = 0; cpu < node.cpu_milli / 1000; ++cpu) has.numa.front().cpus.push_back(cpu);
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    has.gpus.push_back(
        {.index = gpu, .name = node.gpu_type, .memory_bytes = node.gpu_memory_bytes});
  }
  Machine& machine = machines_.emplace_back();
  machine.processes = std::make_unique<FakeProcesses>([this](const LaunchName& name) {
    const auto end = ends_.find(name.job);
    if (end == ends_.end()) return FakeProcesses::Script{};
    return FakeProcesses::Script{.runs = std::max(Duration::zero(), end->second - now_)};
  });
  machine.agent = std::make_unique<NodeAgent>(NodeOptions{.instance = "i-" + node.name,
                                                          .name = node.name,
                                                          .address = "127.0.0.1",
                                                          .machine = std::move(has)},
                                              *machine.processes, now_.time_since_epoch());
  INVARIANT(machine.agent->adopt().ok(), "there is nothing to adopt");
  machine.connection = wire_.connect(machines_.size() - 1);
}

void LiveCluster::take_records() {
  for (const Record& record : core_.take_records()) {
    const auto entry = read_entry(record);
    INVARIANT(entry.ok(), "what was written can be read");
    if (const auto* decided = std::get_if<Decided>(&entry.value())) {
      decisions_.push_back({.time = record.time, .what = *decided});
    }
  }
}

// Until no message is left.
void LiveCluster::talk() {
  const Duration now = now_.time_since_epoch();
  for (bool more = true; std::exchange(more, false);) {
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      Machine& machine = machines_[i];
      machine.processes->advance(now);
      machine.agent->tick(now);
      if (auto report = machine.agent->next_report(now)) {
        core_.reported(machine.connection, wire_.carry(i, std::move(*report)), now_);
        more = true;
      }
    }
    take_records();
    for (Core::Outgoing& outgoing : core_.take_orders()) {
      const auto to = std::ranges::find(machines_, outgoing.connection, &Machine::connection);
      const auto i = static_cast<std::size_t>(to - machines_.begin());
      to->agent->on_orders(wire_.carry(i, std::move(outgoing.orders)), now);
      more = true;
    }
  }
}

void LiveCluster::submit_due() {
  const Caller root{.role = Caller::Role::Admin, .name = "root"};
  for (; submitted_ < scenario_.submissions.size(); ++submitted_) {
    const auto& [at, request] = scenario_.submissions[submitted_];
    if (at > now_) return;
    const auto answer = core_.submit(root, wire_.carry({.job = request}), now_);
    INVARIANT(answer.ok(), "requests of a scenario are such as are taken");
  }
}

std::string LiveCluster::let_pass(Time now) {
  now_ = now;
  talk();
  submit_due();
  for (int rounds = 0; core_.next_due() <= now_; ++rounds) {
    if (rounds == kRoundsAtOnceMax) return fmt::format("rounds without end at {}", seconds(now_));
    core_.tick(now_);
    talk();
  }
  return "";
}

Time LiveCluster::next_instant() const {
  Time next = std::min(core_.next_due(), now_ + kLease / 3);
  if (submitted_ < scenario_.submissions.size()) {
    next = std::min(next, scenario_.submissions[submitted_].at);
  }
  for (const auto& [job, end] : ends_) {
    if (end > now_) next = std::min(next, end);
  }
  return next;
}

std::string LiveCluster::run(std::map<JobNumber, Time> ends, Time last) {
  ends_ = std::move(ends);
  for (Time now{}; now <= last; now = next_instant()) {
    if (std::string wrong = let_pass(now); !wrong.empty()) return wrong;
  }
  return "";
}

int LiveCluster::starts() const {
  int count = 0;
  for (const Machine& machine : machines_) {
    for (const auto& [name, times] : machine.processes->starts()) count += times;
  }
  return count;
}

}  // namespace orrery
