#include "training/trainer/head/head.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/files.h"
#include "training/trainer/head/exchange/ring_exchange.h"
#include "training/trainer/head/exchange/shard_exchange.h"
#include "training/trainer/lease/head_place.h"
#include "training/trainer/transport/addresses.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr auto kTick = std::chrono::seconds(1);
constexpr auto kLeaseTick = std::chrono::milliseconds(250);
constexpr auto kEndPatience = std::chrono::seconds(3);
constexpr int kRestartsMost = 100;

Result<std::string> make_own_folder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "orrery-train-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) return system_error(name, errno);
  return name;
}

}  // namespace

Head::Head(const RunOptions& options, const TrainPorts& ports, std::optional<GangPlace> gang)
    : run_(options, ports),
      gang_place_(std::move(gang)),
      members_(run_, emulation_, transport_,
               [this](pid_t pid, const std::string& how) {
                 if (run_.over) return;
                 if (const auto part = members_.find_process(pid)) {
                   lose(part->first, part->second, how);
                 }
               }),
      leadership_(run_, session_, members_),
      emulation_(run_, session_, members_),
      tasks_(run_, session_, members_, emulation_),
      silence_(run_, session_, members_),
      signals_(run_.io),
      ticker_(run_.io) {
  run_.pump = [this] { pump(); };
}

// Processes end before the emulated servers that they are on.
Head::~Head() {
  run_.over = true;
  run_.writer.join();
  members_.clear();
}

Result<TrainingResult> Head::run() {
  const auto came_to = lead();
  leadership_.end(came_to);
  // A run that could not begin, as with a wrong option, does not keep the right one out.
  const bool failed = !came_to.ok() && came_to.error().code != Code::Cancelled;
  const bool is_new = run_.options.resume.empty() && !run_.job.resumed() && run_.log != nullptr;
  if (failed && is_new && run_.now() == Time() && !leadership_.by_lease()) {
    std::remove((run_.folder + "/run.json").c_str());
  }
  // Parts end by themselves when they are asked to. Those that do not are killed.
  if (came_to.ok()) {
    members_.stop_all();
    members_.wait_until(std::chrono::steady_clock::now() + kEndPatience);
  }
  return came_to;
}

Result<TrainingResult> Head::lead() {
  TRY(open_run());
  TRY(open_parts());
  make_exchange();
  TRY_ASSIGN(const std::optional<Checkpoint> from, checkpoint_to_resume());
  catch_signals();
  TRY(begin_session(from ? &*from : nullptr));
  on_tick();
  while (!run_.over && run_.io.run_one() > 0) {
  }
  write_tables();
  if (StepLog* const steps = run_.log->steps()) {
    const Status written = steps->finish([this](const std::string& text) { run_.warn(text); });
    if (!written.ok() && run_.end.fail(written.error())) run_.warn(written.error().message);
  }
  const TrainingResult came_to = result();
  end_gang();
  run_.job.close(run_.failure.ok() && session_.conductor->finished() && came_to.failure.empty() &&
                 run_.tally.ended.find("asked to stop") == std::string::npos);
  if (!run_.failure.ok()) return run_.failure.error();
  return came_to;
}

Status Head::open_run() {
  const RunOptions& options = run_.options;
  std::string& folder = run_.folder;
  folder = !options.resume.empty() ? options.resume : options.folder;
  if (folder.empty()) folder = run_.job.checkpoint_folder();
  if (folder.empty()) {
    TRY_ASSIGN(folder, make_own_folder());
    run_.own_folder = true;
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return system_error(folder, error.value());
  TRY(leadership_.begin());
  const bool fresh = options.resume.empty() && !run_.job.resumed();
  if (fresh && fs::exists(folder + "/run.json")) {
    return invalid(fmt::format(
        "{}: holds a run already; go on with it by --resume, or name another folder", folder));
  }
  remove_drafts(folder);
  TRY(note_options(fresh));
  TRY_ASSIGN(run_.log, RunLog::open(run_.own_folder ? "" : folder, leadership_.by_lease()));
  run_.log->guard([this](const auto& write) { return leadership_.guard(write); });
  if (!options.trace_steps.empty()) {
    TRY_ASSIGN(auto steps,
               StepLog::open(options.trace_steps, architecture(options), options.workers));
    run_.log->record_steps(std::move(steps));
  }
  transport_->token = gang_place_ ? gang_place_->token : random_token();
  if (leadership_.by_lease()) {
    TRY_ASSIGN(transport_->token, leadership_.token());
  }
  if (gang_place_) {
    gang_ = std::make_unique<GangDesk>(*gang_place_, workers_first_, GangDesk::Clock::now());
  }
  return {};
}

// The scheduler changes a job's size by stopping it and starting it with other GPUs, so that is
// when the number of workers follows.
Status Head::note_options(bool fresh) {
  if (leadership_.by_lease()) {
    workers_first_ = run_.options.workers;
    return {};
  }
  RunOptions noted = run_.options;
  const std::string path = run_.folder + "/run.json";
  if (auto text = read_file(path); !fresh && text.ok()) {
    if (const auto before = parse_run_options(text.value()); before.ok()) {
      noted.gpus = before.value().gpus;
    }
  }
  const int gpus = run_.job.gpus() * (gang_place_ ? gang_place_->ranks : 1);
  if (noted.gpus == 0) noted.gpus = gpus;
  workers_first_ = workers_for(noted, gpus);
  if (workers_first_ != run_.options.workers) {
    run_.progress.say(fmt::format("{} workers for {} GPUs, as there were {} for {} at first",
                                  workers_first_, gpus, run_.options.workers, noted.gpus));
  }
  if (gang_place_) workers_first_ = std::max(workers_first_, gang_place_->ranks);
  if (fresh) {
    TRY(members_.check(gang_place_ ? GangPlace::workers_of(0, gang_place_->ranks, workers_first_)
                                   : workers_first_));
  }
  return write_file_atomically(path, run_options_text(noted));
}

Status Head::open_parts() {
  TRY(emulation_.open(workers_first_));
  TRY(open_host());
  members_.listen_at(*host_);
  if (run_.all_reduce()) {
    TRY_ASSIGN(meeting_, run_.ports.open_meeting_place(host_->address()));
  }
  emulation_.report();  // that all is made which other runs could be in the way of
  if (!leadership_.by_lease()) {
    TRY(write_file_atomically(run_.folder + "/token", token_text(transport_->token)));
  }
  return leadership_.announce({.host = host_->address(),
                               .port = host_->port(),
                               .pid = getpid(),
                               .epoch = run_.options.epoch});
}

Status Head::open_host() {
  const auto open = [this](const std::string& address, std::uint16_t port) {
    return Host::open(
        run_.io, address, transport_, [this](auto line, const Hello& hello) { greet(line, hello); },
        port);
  };
  std::string address = run_.options.listen;
  if (emulation_.active() && emulation_.servers().link_means() == "tbf") {
    if (gang_place_ || !is_loopback(address)) {
      return invalid(
          "--link: processes on other machines do not reach links that are emulated by tbf; add "
          "--link-means token-bucket");
    }
    address = emulation_.servers().outside_address();
  }
  if (!gang_place_) {
    TRY_ASSIGN(host_, open(address, 0));
    return {};
  }
  TRY_ASSIGN(address, resolved(gang_place_->address));
  auto host = open(address, gang_place_->port);
  if (!host.ok() && host.error().code == Code::NotFound) {  // it is behind a translated address
    host = open("0.0.0.0", gang_place_->port);
  }
  TRY_ASSIGN(host_, std::move(host));
  return {};
}

void Head::make_exchange() {
  if (run_.all_reduce()) {
    exchange_ = std::make_unique<RingExchange>(
        run_, session_, members_, tasks_,
        RingExchange::Calls{
            .lose_worker = [this](int id, const std::string& how) { lose_worker(id, how); },
            .restart = [this](const std::string& why) { restart(why); },
            .head_address = [this] { return host_->address(); },
            .sums_on_cpus = [this] { return meeting_->sums_on_cpus(); }});
  } else {
    exchange_ = std::make_unique<ShardExchange>(run_, session_, members_, emulation_, tasks_);
  }
  start_ = std::make_unique<SessionStart>(run_, session_, members_, emulation_, *exchange_);
  snapshots_ =
      std::make_unique<Snapshots>(run_, session_, members_, *exchange_, [this] { maybe_done(); });
}

Result<std::optional<Checkpoint>> Head::checkpoint_to_resume() {
  std::optional<Checkpoint> from;
  if (leadership_.by_lease()) {  // what the shards hold decides
    snapshots_->best().recall();
    return from;
  }
  const bool resumes = !run_.options.resume.empty() || (run_.job.is_job() && run_.job.resumed());
  if (!resumes) return from;
  if (run_.options.from == "best") TRY(begin_at_best(run_.folder));
  snapshots_->best().recall();
  auto found = newest_checkpoint(run_.folder);
  if (found.ok()) {
    for (const std::string& why : found.value().damaged) run_.warn(why);
    from = std::move(found).value().checkpoint;
  } else if (found.error().code == Code::NotFound) {
    run_.tally.warnings.emplace_back(
        "it was stopped before its first checkpoint, and starts from the beginning");
  } else {
    return std::move(found).error();
  }
  return from;
}

Status Head::begin_session(const Checkpoint* from) {
  // The other ranks of a gang start their own workers.
  return start_->begin(from, workers_first_, gang_ ? gang_->own_workers() : workers_first_);
}

void Head::restart(const std::string& why) {
  if (run_.over || run_.finishing || session_.conductor->ending()) {
    return run_.fail({Code::Unavailable, fmt::format("{} while the run was ending", why)});
  }
  if (leadership_.by_lease()) return run_.fail({Code::Unavailable, why});
  run_.progress.say(fmt::format("{}; training starts again from the newest checkpoint", why));
  run_.worker_clocks.leave_all(run_.now());
  run_.clock.pause();
  silence_.forget_all();
  run_.tally.counts = run_.tally.counts + session_.conductor->counts();
  run_.tally.director_cpu_s += session_.director->cpu_s();
  if (++run_.tally.restarts > kRestartsMost) {
    return run_.fail({Code::Aborted, "too many restarts"});
  }
  members_.clear();
  tasks_.clear();
  snapshots_->clear();
  auto found = newest_checkpoint(run_.folder);
  if (found.ok()) {
    for (const std::string& damaged : found.value().damaged) {
      run_.tally.warnings.push_back(damaged);
    }
  }
  const Status begun = begin_session(found.ok() ? &found.value().checkpoint : nullptr);
  if (!begun.ok()) run_.fail(begun.error());
}

void Head::catch_signals() {
  signals_.add(SIGINT);
  signals_.add(SIGTERM);
  // Of a terminal that is closed; nohup ignores it.
  struct sigaction hangup {};
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
    signals_.add(SIGHUP);
  }
  signals_.async_wait([this](const boost::system::error_code& error, int) {
    if (error) return;
    // A second one ends at once. SIGHUP stays caught: shell and kernel may both send it.
    signals_.remove(SIGINT);
    signals_.remove(SIGTERM);
    if (run_.finishing) return;
    // The machine of this head ends, not the run.
    if (leadership_.by_lease()) return run_.fail({Code::Cancelled, "another member leads the run"});
    if (!run_.training()) return run_.fail({Code::Cancelled, "stopped before it trained"});
    session_.conductor->finish("it was asked to stop", run_.now());
    pump();
  });
}

// What is under way when the run is over is waited for: the last evaluation, the last checkpoint.
void Head::maybe_done() {
  if (run_.finishing && !snapshots_->busy()) run_.over = true;
}

// A member that hangs in the last sum is given up after the patience of a ring: the others have
// failed by then.
void Head::give_up_last_sum() {
  if (run_.finishing || !session_.conductor->ending()) return;
  const Duration patience = from_seconds(run_.options.ring_patience_s) + kEndPatience;
  if (!run_.end.overdue(run_.now(), patience)) return;
  for (const int id : exchange_->waiting()) lose_worker(id, "did not end the last sum");
}

void Head::write_tables() {
  run_.log->flush();
  const Status written = run_.log->status();
  if (!written.ok() && run_.end.fail(written.error())) run_.warn(written.error().message);
}

void Head::on_tick() {
  Duration pause = leadership_.by_lease() ? Duration(kLeaseTick) : Duration(kTick);
  const double limit_s = run_.pace.goal().time_s;
  if (run_.training() && limit_s > 0) {
    constexpr Duration kLeast = std::chrono::milliseconds(1);
    pause = std::clamp(from_seconds(limit_s) - run_.now().time_since_epoch(), kLeast, pause);
  }
  ticker_.expires_after(pause);
  ticker_.async_wait([this](const boost::system::error_code& error) {
    if (error || run_.over) return;
    emulation_.sample();
    leadership_.tick();
    if (run_.over) return;
    write_tables();
    silence_.look([this](PartRole role, int id, const std::string& how) { lose(role, id, how); });
    look_at_gang();
    exchange_->watch();
    if (run_.over) return;
    emulation_.report();
    if (run_.training() && !run_.finishing) tick_training();
    on_tick();
  });
}

void Head::tick_training() {
  exchange_->measure_links();
  run_.worker_clocks.sample(run_.now());
  session_.conductor->tick(run_.now());
  const double limit_s = run_.pace.goal().time_s;
  if (limit_s > 0 && seconds(run_.now()) >= limit_s) {
    session_.conductor->finish("the time was up", run_.now());
  }
  give_up_last_sum();
  if (!session_.conductor->ending()) members_.grow();
  pump();
  ProgressState state = run_.pace.at(session_.samples_used, seconds(run_.now()));
  state.mode = session_.mode_name;
  state.updates =
      (session_.from ? session_.from->conductor.version : 0) + session_.conductor->counts().updates;
  run_.progress.show(state);
}

TrainingResult Head::result() {
  const std::vector<EvaluatedVersion>& curve = run_.curve;
  TargetWatch watch(run_.options.target, run_.options.target_over);
  for (const EvaluatedVersion& point : curve) watch.add(point.at_s, point.accuracy);
  const BestKeeper& best = snapshots_->best();
  TrainingResult result{
      .tally = run_.tally,
      .target = run_.options.target,
      .target_over = run_.options.target_over,
      .time_to_target_s = watch.reached_s(),
      .best = run_.own_folder ? best.best() : best.on_disk(),
      .training_s = seconds(run_.finishing ? run_.ended_at : run_.now()),
      .wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - opened_).count(),
      .workers = static_cast<int>(members_.workers().size()),
      .worker_cpu_s = run_.worker_clocks.mean_s(),
      .folder = run_.own_folder ? "" : run_.folder};
  if (!curve.empty()) {
    result.final_accuracy = curve.back().accuracy;
    result.final_loss = curve.back().loss;
  }
  if (!result.folder.empty()) result.best_file = best_checkpoint_path(result.folder);
  result.tally.counts = run_.tally.counts + session_.conductor->counts();
  result.tally.director_cpu_s += session_.director->cpu_s();
  result.tally.refused_connections += host_->refused();
  if (run_.failure.ok()) {
    const Status kept = run_.end.outcome(session_.conductor->state().version);
    if (!kept.ok()) result.failure = kept.error().message;
  }
  emulation_.describe(result);
  return result;
}

}  // namespace orrery
