#include "faults/world.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "live/daemon/log/event_tail.h"
#include "live/daemon/log/replay.h"

namespace orrery {
namespace {

std::filesystem::path new_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "orrery_world_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  return name;
}

}  // namespace

World::World(std::uint64_t seed, const Weather& weather, std::string policy)
    : random_(seed),
      weather_(weather),
      policy_(std::move(policy)),
      folder_(new_folder()),
      script_seed_(seed * 0x9e3779b97f4a7c15) {
  machines_.resize(static_cast<std::size_t>(random_.between(1, 4)));
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    FakeMachine& machine = machines_[i];
    machine.name = fmt::format("n{}", i);
    machine.gpus = static_cast<int>(random_.between(1, 4));
    machine.rate = 1 + (random_.uniform() - 0.5) * 0.002;
    machine.offset = up_to(std::chrono::hours(1000));
    machine.processes =
        std::make_unique<FakeProcesses>([this](const LaunchName& name) { return script_of(name); });
    start_agent(machine);
  }
  start_scheduler();
}

World::~World() {
  core_.reset();
  store_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void World::say(std::string what) {
  story_.push_back(fmt::format("{:9.3f} {}", seconds(now_), what));
  if (story_.size() > 2000) story_.pop_front();
}

void World::fail(const std::string& what) {
  if (!wrong_.empty()) return;
  say("WRONG: " + what);
  wrong_ = what;
}

std::string World::story() const {
  std::string all;
  for (const std::string& line : story_) all += line + "\n";
  if (core_ == nullptr) return all;
  for (const LiveJob& job : core_->book().jobs()) {
    const Job& known = core_->state().job(*core_->book().find(job.number));
    if (is_final(known.state) && job.launches.empty()) continue;
    all += fmt::format("job {}: {} epoch {} wants {} GPUs, {}", job.number, to_string(known.state),
                       job.epoch, job.request->gpus, text(job.reason));
    for (const LiveLaunch& launch : job.launches) all += " " + text(launch.name);
    all += "\n";
  }
  for (const LiveNode& node : core_->book().nodes()) {
    all += fmt::format("node {}: {} GPUs, {}{}\n", node.offer.name, node.offer.gpus,
                       to_string(node.state), node.draining ? ", draining" : "");
  }
  return all + fmt::format("policy {}, {} open submissions, {} alive\n",
                           core_->book().policy().name, open_.size(), core_->alive());
}

Duration World::machine_time(const FakeMachine& machine) const {
  return machine.offset +
         Duration(static_cast<std::int64_t>(static_cast<double>(now_.count()) * machine.rate));
}

// What a launch does follows from its name alone.
FakeProcesses::Script World::script_of(const LaunchName& name) {
  Random random(script_seed_ + static_cast<std::uint64_t>(name.job) * 1009 +
                static_cast<std::uint64_t>(name.epoch) * 31 +
                static_cast<std::uint64_t>(name.rank));
  FakeProcesses::Script script;
  script.runs = Duration(random.between(1, weather_.runs / Duration(1'000'000))) * 1'000'000;
  script.exit_code = random.uniform() < 0.1 ? 3 : 0;
  script.leaves = Duration(random.between(0, 3'000)) * 1'000'000;
  script.deaf = random.uniform() < 0.1;
  if (random.uniform() < 0.02) script.refused = "no such program";
  if (name.job % 3 == 0) script.iteration = std::chrono::milliseconds(random.between(50, 2'000));
  script.stubborn = random.uniform() < 0.1;
  return script;
}

// ---- The scheduler's process

void World::start_scheduler() {
  disk_.heal();
  CoreOptions options;
  options.policy.name = policy_;
  constexpr std::array kNodeTimeouts = {std::chrono::seconds(0), std::chrono::seconds(20),
                                        std::chrono::seconds(90), std::chrono::seconds(43'200)};
  options.node_timeout = weather_.node_timeout.value_or(
      kNodeTimeouts[static_cast<std::size_t>(random_.between(0, 3))]);
  const StoreOptions store{.disk = disk_.name(), .log_bytes = std::size_t{64} << 10};
  auto found = recover((folder_ / "log.db").string(), options, store);
  if (!found.ok()) return fail("the log cannot be read: " + found.error().message);
  Recovered recovered = std::move(found).value();
  core_ = std::move(recovered.core);
  store_.emplace(std::move(recovered.store));
  held_ = {};
  if (const Status begun = core_->begin(1'000'000'000 + now_.count(), cluster_time());
      !begun.ok()) {
    return fail("the scheduler does not begin: " + begun.error().message);
  }
  say(fmt::format("the scheduler starts, term {}", core_->book().term()));
  for (FakeMachine& machine : machines_) machine.connection = 0;
  commit();
}

void World::stop_scheduler(bool power) {
  say(power ? "the scheduler's machine loses power" : "the scheduler is killed");
  ++crashes_;
  core_.reset();
  store_.reset();
  if (power) disk_.lose_unsynced(random_);
  held_ = {};
  std::erase_if(messages_, [](const Message& message) { return message.orders.has_value(); });
  scheduler_back_ = now_ + up_to(std::chrono::seconds(20));
}

void World::run_scheduler() {
  if (core_ == nullptr) {
    if (now_ >= scheduler_back_) start_scheduler();
    return;
  }
  core_->tick(cluster_time());
  // Sometimes several passes are committed together.
  if (!rough_ || random_.uniform() < 0.7) commit();
}

// All that was decided goes to disk, and only then leaves the scheduler.
void World::commit() {
  if (core_ == nullptr) return;
  for (Record& record : core_->take_records()) held_.records.push_back(std::move(record));
  for (Core::Outgoing& outgoing : core_->take_orders()) held_.orders.push_back(std::move(outgoing));
  std::int64_t sequence = store_->last();
  for (Record& record : held_.records) record.sequence = ++sequence;
  if (!held_.records.empty()) {
    if (const char* job = std::getenv("ORRERY_FAULT_JOB")) {
      for (const Record& record : held_.records) {
        if (std::to_string(record.job) == job || record.kind == "term") {
          say(fmt::format("log {} {} {}", record.sequence, record.kind, record.body));
        }
      }
    }
    if (const Status status = store_->append(held_.records); !status.ok()) {
      say("a commit fails: " + status.error().message);
      return stop_scheduler(random_.uniform() < 0.5);
    }
    // Rarely, so that replay has whole logs to look at as well.
    if (rough_ && random_.uniform() < 0.01) {
      const Status status = store_->put_snapshot(store_->last(), core_->snapshot(Duration::max()));
      say(status.ok() ? "a snapshot" : "no snapshot: " + status.error().message);
      if (!status.ok()) return stop_scheduler(false);
    }
  }
  for (Core::Outgoing& outgoing : held_.orders) {
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      if (machines_[i].connection == outgoing.connection) {
        send(i, {}, std::move(outgoing.orders), outgoing.connection);
        break;
      }
    }
  }
  for (const auto& [key, answer] : held_.answers) {
    if (rough_ && random_.uniform() < weather_.lost) continue;  // the answer gets lost
    const auto [known, added] = acknowledged_.try_emplace(key, answer.first);
    if (!added && known->second != answer.first) {
      fail(fmt::format("submission {} is job {} and job {}", key, known->second, answer.first));
    }
    std::erase_if(open_, [&](const OpenSubmission& submission) { return submission.key == key; });
  }
  cancel_acknowledged_.insert(held_.cancelled.begin(), held_.cancelled.end());
  held_ = {};
}

// ---- Agents

void World::start_agent(FakeMachine& machine) {
  Machine has;
  has.hostname = machine.name;
  has.numa = {{.id = 0, .cpus = {0, 1, 2, 3, 4, 5, 6, 7}}};
  has.memory_bytes = std::int64_t{1} << 36;
  for (int i = 0; i < machine.gpus; ++i) has.gpus.push_back({.index = i, .name = "declared"});
  machine.agent = std::make_unique<NodeAgent>(
      NodeOptions{.instance = fmt::format("i{}-{}", machine.instance, machine.name),
                  .machine_id = machine.name,
                  .boot = fmt::format("b{}", machine.boot),
                  .name = machine.name,
                  .address = "127.0.0.1",
                  .machine = std::move(has),
                  .log = [this, name = machine.name](
                             std::string_view line) { say(name + ": " + std::string(line)); }},
      *machine.processes, machine_time(machine));
  if (const Status adopted = machine.agent->adopt(); !adopted.ok()) {
    fail("an agent does not start: " + adopted.error().message);
  }
  machine.connection = 0;
}

void World::reboot(FakeMachine& machine) {
  say(machine.name + " reboots");
  machine.agent.reset();
  machine.processes->reboot();
  machine.off = true;
  ++machine.boot;
  if (random_.uniform() < weather_.state_lost) {
    machine.processes->lose_state();
    ++machine.instance;
  }
  machine.agent_back = now_ + up_to(std::chrono::seconds(60));
}

void World::run_agents() {
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    FakeMachine& machine = machines_[i];
    const Duration time = machine_time(machine);
    machine.processes->advance(time);
    if (machine.agent == nullptr) {
      if (now_ >= machine.agent_back) {
        say(machine.name + ": the agent is back");
        machine.off = false;
        start_agent(machine);
      }
      continue;
    }
    machine.agent->on_process_change(time);
    machine.agent->tick(time);
    if (auto report = machine.agent->next_report(time)) {
      if (machine.connection == 0) machine.connection = ++last_connection_;
      send(i, std::move(report), {}, machine.connection);
    }
  }
}

// ---- The network

void World::send(std::size_t machine, std::optional<Report> report, std::optional<Orders> orders,
                 std::int64_t connection) {
  if (orders) {
    for (const Assignment& assignment : orders->assignments) {
      if (assignment.shares) sharing_.insert(assignment.name);
    }
  }
  const Duration cut =
      report ? machines_[machine].cut_to_scheduler : machines_[machine].cut_from_scheduler;
  if (now_ < cut || chance(weather_.lost)) return;
  Duration delay = up_to(std::chrono::milliseconds(rough_ ? 300 : 20));
  if (chance(weather_.late)) delay = up_to(std::chrono::seconds(20));
  Message message{.at = now_ + delay,
                  .machine = machine,
                  .connection = connection,
                  .report = std::move(report),
                  .orders = std::move(orders)};
  if (chance(weather_.doubled)) {
    messages_.push_back(message);
    messages_.back().at += up_to(std::chrono::seconds(5));
  }
  messages_.push_back(std::move(message));
}

void World::deliver() {
  std::vector<Message> due;
  std::erase_if(messages_, [&](Message& message) {
    if (message.at > now_) return false;
    due.push_back(std::move(message));
    return true;
  });
  std::ranges::stable_sort(due, {}, &Message::at);
  for (Message& message : due) {
    FakeMachine& machine = machines_[message.machine];
    if (message.report && core_ != nullptr) {
      core_->reported(message.connection, *message.report, cluster_time());
    } else if (message.orders && machine.agent != nullptr) {
      machine.agent->on_orders(*message.orders, machine_time(machine));
    }
  }
}

// ---- What must never be

void World::look() {
  std::map<JobNumber, LaunchName> running;
  for (const FakeMachine& machine : machines_) {
    std::uint64_t used = 0;
    for (const Launch& launch : machine.processes->running()) {
      const LaunchName name{static_cast<JobNumber>(launch.job), launch.epoch, launch.gang.rank};
      const auto [other, alone] = running.try_emplace(name.job, name);
      if (!alone && other->second.epoch != name.epoch) {
        fail(
            fmt::format("job {} runs twice: {} and {}", name.job, text(other->second), text(name)));
      }
      if (sharing_.contains(name)) continue;
      for (const std::string& gpu : launch.gpus) {
        const std::uint64_t bit = std::uint64_t{1} << std::stoi(gpu);
        if ((used & bit) != 0) fail(fmt::format("{} {} has two jobs", machine.name, gpu));
        used |= bit;
      }
    }
    for (const auto& [name, times] : machine.processes->starts()) {
      if (times > 1) fail(fmt::format("{} was started {} times", text(name), times));
    }
  }
}

void World::step() {
  now_ += step_;
  if (rough_) weather();
  run_agents();
  deliver();
  users();
  run_scheduler();
  look();
}

void World::storm(Duration how_long) {
  const Duration until = now_ + how_long;
  while (now_ < until && wrong_.empty()) step();
}

void World::outage(Duration how_long) {
  stop_scheduler(false);
  scheduler_back_ = now_ + how_long;
  step_ = std::clamp<Duration>(how_long / 1000, step_, std::chrono::seconds(1));
  while (core_ == nullptr && wrong_.empty()) step();
  step_ = std::chrono::milliseconds(100);
}

std::size_t World::switch_off_one() {
  const auto busiest = std::ranges::max_element(machines_, {}, [](const FakeMachine& machine) {
    return machine.processes->running().size();
  });
  const std::size_t ran = busiest->processes->running().size();
  reboot(*busiest);
  busiest->agent_back = Duration::max();
  return ran;
}

int World::lease_losses() const {
  int losses = 0;
  for (const FakeMachine& machine : machines_) losses += machine.processes->lease_losses();
  return losses;
}

std::size_t World::counted_on_machines_off() const {
  std::size_t count = 0;
  for (const FakeMachine& machine : machines_) {
    const auto node = core_->book().find_node(machine.name);
    if (machine.off && node) count += core_->book().node(*node).launches.size();
  }
  return count;
}

// Waits for nodes that this world does not have, or for a job that does.
bool World::is_misfit(const LiveJob& job) const {
  const auto open = [this](JobNumber number) {
    const auto id = core_->book().find(number);
    return id && !is_final(core_->state().job(*id).state);
  };
  if (!open(job.number)) return false;
  if (job.reason.code == Reason::Code::NotHere) return true;
  return std::ranges::any_of(job.request->after, open);
}

std::int64_t World::misfits() const {
  return std::ranges::count_if(core_->book().jobs(),
                               [this](const LiveJob& job) { return is_misfit(job); });
}

bool World::calm_down(Duration at_most) {
  rough_ = false;
  disk_.heal();
  const Duration until = now_ + at_most;
  bool resumed = false;
  while (now_ < until && wrong_.empty()) {
    step();
    if (core_ == nullptr) continue;
    if (!resumed) {
      const Caller root{.role = Caller::Role::Admin, .name = "root"};
      for (const FakeMachine& machine : machines_) {
        (void)core_->drain(root, {.node = machine.name, .resume = true}, cluster_time()).ok();
      }
      resumed = true;
    }
    const State& state = core_->state();
    if (open_.empty() && state.waiting() == misfits() && state.running().empty() &&
        core_->alive() == 0) {
      return true;
    }
  }
  return false;
}

// Some process of each of its runs was ordered to stop, and did.
bool World::rested_only(JobNumber job) const {
  std::map<std::int64_t, bool> rested;  // by epoch
  for (const FakeMachine& machine : machines_) {
    for (const auto& [name, times] : machine.processes->starts()) {
      if (name.job == job) rested[name.epoch] |= machine.processes->rested().contains(name);
    }
  }
  return !rested.empty() &&
         std::ranges::all_of(rested, [](const auto& epoch) { return epoch.second; });
}

void World::check_end() {
  if (restores_ == 0 && core_->book().origin().restored_before != 0) {
    fail("the log was taken for an old copy");
  }
  for (const auto& [key, number] : acknowledged_) {
    const auto id = core_->book().find(number);
    if (!id) {
      fail(fmt::format("job {} ({}) was acknowledged and is lost", number, key));
      continue;
    }
    const JobState state = core_->state().job(*id).state;
    if (state == JobState::Done) ++completed_;
    if (state == JobState::Done && rested_only(number)) {
      fail(fmt::format("job {} is done, and was only ever asked to stop", number));
    }
    if (!is_final(state) && !is_misfit(core_->book().job(*id))) {
      fail(fmt::format("job {} never ends: {}", number, to_string(state)));
    }
    if (cancel_acknowledged_.contains(number) && state != JobState::Cancelled) {
      fail(fmt::format("job {} was cancelled and is {}", number, to_string(state)));
    }
  }
  std::set<std::string> keys;
  const Status read = store_->read(store_->first(), [&](const Record& record) {
    const auto entry = read_entry(record);
    if (!entry.ok()) return Status(entry.error());
    const auto* submitted = std::get_if<Submitted>(&entry.value());
    if (submitted != nullptr && !keys.insert(submitted->key).second) {
      fail("submission " + submitted->key + " was taken twice");
    }
    return Status();
  });
  if (!read.ok()) return fail("the log cannot be read: " + read.error().message);
  CoreOptions options;
  options.policy.name = policy_;
  Replay replay(options);
  const Status replayed =
      store_->read(store_->first(), [&](const Record& record) { return replay.next(record); });
  replay.finish();
  if (!replayed.ok()) fail("the log cannot be replayed: " + replayed.error().message);
  if (replay.difference()) fail("the log decides otherwise: " + *replay.difference());
}

}  // namespace orrery
