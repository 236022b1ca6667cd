#include "training/trainer/head/head.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "training/trainer/checkpoint/best_keeper.h"
#include "training/trainer/head/job_link.h"
#include "training/trainer/head/progress_line.h"
#include "training/trainer/head/run_progress.h"
#include "training/trainer/transport/addresses.h"

namespace orrery {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

constexpr auto kTick = std::chrono::seconds(1);
constexpr auto kEndPatience = std::chrono::seconds(3);

Result<std::string> make_own_folder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "orrery-train-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) return system_error(name, errno);
  return name;
}

}  // namespace

Head::Head(const RunOptions& options, const TrainPorts& ports, std::optional<GangPlace> gang)
    : options_(options),
      ports_(ports),
      signals_(io_),
      ticker_(io_),
      script_timer_(io_),
      opened_(std::chrono::steady_clock::now()),
      pulses_(options.silence_s / 2),
      gang_place_(std::move(gang)) {}

Head::~Head() {
  writer_.join();
  children_.reset();
  std::error_code ignored;
  if (own_folder_) fs::remove_all(folder_, ignored);
}

Time Head::now() const {
  if (!training_) return Time(before_);
  return Time(before_ +
              std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began_));
}

Result<RunSummary> Head::run() {
  TRY(check(options_));
  TRY_ASSIGN(time_limit_s_, time_limit_s(options_));
  job_ = std::make_unique<JobLink>();
  progress_ = std::make_unique<ProgressLine>(!options_.quiet);
  pace_ = std::make_unique<RunProgress>(RunGoal{
      .samples = samples_limit(options_), .time_s = time_limit_s_, .accuracy = options_.target});
  TRY(open_run());
  best_ = std::make_unique<BestKeeper>(io_, writer_, own_folder_ ? "" : folder_,
                                       [this](const Status& status) {
                                         note_save_failure(status);
                                         maybe_done();
                                       });
  TRY(open_servers());
  TRY(load_script());
  std::optional<Checkpoint> from;
  if (!options_.resume.empty() || (job_->is_job() && job_->resumed())) {
    if (options_.from == "best") TRY(begin_at_best(folder_));
    best_->recall();
    auto found = newest_checkpoint(folder_);
    if (found.ok()) {
      for (const std::string& why : found.value().damaged) tally_.warnings.push_back(why);
      for (const std::string& why : found.value().damaged) progress_->say(why);
      from = std::move(found).value().checkpoint;
    } else if (found.error().code == Code::NotFound) {
      tally_.warnings.emplace_back("it was stopped before its first checkpoint, and begins anew");
    } else {
      return std::move(found).error();
    }
  }
  catch_signals();
  children_ = std::make_unique<Children>(
      io_, [this](pid_t pid, const std::string& how) { part_ended(pid, how); });
  TRY(begin_session(from ? &*from : nullptr));
  on_tick();
  while (!over_ && io_.run_one() > 0) {
  }
  write_tables();
  const RunSummary result = summary();
  end_gang();
  job_->close(end_.ok() && conductor_->finished() && result.kept.ok() &&
              tally_.reason.find("asked to stop") == std::string::npos);
  if (end_.ok()) wait_for_parts();
  if (!end_.ok()) return std::move(end_).error();
  return result;
}

Status Head::open_run() {
  folder_ = !options_.resume.empty() ? options_.resume : options_.folder;
  if (folder_.empty()) folder_ = job_->checkpoint_folder();
  if (folder_.empty()) {
    TRY_ASSIGN(folder_, make_own_folder());
    own_folder_ = true;
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return system_error(folder_, error.value());
  TRY_ASSIGN(lock_, FolderLock::take(folder_));
  const bool anew = options_.resume.empty() && !job_->resumed();
  if (anew && fs::exists(folder_ + "/run.json")) {
    return invalid(
        fmt::format("{}: holds a run already; go on with it by --resume, or name another "
                    "folder",
                    folder_));
  }
  remove_drafts(folder_);
  TRY(note_options(anew));
  TRY_ASSIGN(log_, RunLog::open(own_folder_ ? "" : folder_));
  transport_->token = gang_place_ ? gang_place_->token : random_token();
  join_ranks();
  return {};
}

// The scheduler changes a job's size by stopping it and starting it with other GPUs, so that is
// when the number of workers follows.
Status Head::note_options(bool anew) {
  RunOptions noted = options_;
  const std::string path = folder_ + "/run.json";
  if (auto text = read_file(path); !anew && text.ok()) {
    if (const auto before = parse_run_options(text.value()); before.ok()) {
      noted.gpus = before.value().gpus;
    }
  }
  const int gpus = job_->gpus() * (gang_place_ ? gang_place_->ranks : 1);
  if (noted.gpus == 0) noted.gpus = gpus;
  workers_first_ = workers_for(noted, gpus);
  if (workers_first_ != options_.workers) {
    progress_->say(fmt::format("{} workers for {} GPUs, as there were {} for {} at first",
                               workers_first_, gpus, options_.workers, noted.gpus));
  }
  if (gang_place_) workers_first_ = std::max(workers_first_, gang_place_->ranks);
  if (anew) TRY(check_workers());
  return write_file_atomically(path, run_options_text(noted));
}

bool Head::emulates_servers() const {
  return !options_.stragglers.empty() || options_.cores > 0 || options_.link > 0;
}

Status Head::open_servers() {
  if (emulates_servers()) {
    TRY_ASSIGN(const std::vector<EmulatedSize> sizes, server_sizes());
    TRY_ASSIGN(
        servers_,
        make_servers({.sizes = sizes, .cpu = options_.cpu_means, .link = options_.link_means}));
    // Loading libraries is no part of what is measured, and on a small quota takes many seconds.
    TRY(set_cpu_of_all([](const EmulatedSize& server) { return 1 / server.cores; }));
    load_ = watch_load(*servers_, quota_cores_);
  }
  TRY(open_host());
  if (architecture(options_) == Architecture::AllReduce) {
    TRY_ASSIGN(meeting_, ports_.open_meeting_place(host_->address()));
  }
  if (shared_) report_to_servers();  // that all is made which others could be in the way of
  const mode_t before = umask(0077);
  const Status token = write_file_atomically(folder_ + "/token", token_text(transport_->token));
  umask(before);
  TRY(Status(token));
  return write_file_atomically(
      folder_ + "/head", fmt::format("{} {} {}\n", host_->address(), host_->port(), getpid()));
}

Status Head::open_host() {
  const auto open = [this](const std::string& address, std::uint16_t port) {
    return Host::open(
        io_, address, transport_, [this](auto line, const Hello& hello) { greet(line, hello); },
        port);
  };
  std::string address = options_.listen;
  if (servers_ && servers_->link_means() == "tbf") {
    if (gang_place_ || !is_loopback(address)) {
      return invalid(
          "--link: processes on other machines do not reach links that are emulated by tbf; add "
          "--link-means token-bucket");
    }
    address = servers_->outside_address();
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

Status Head::load_script() {
  if (options_.stragglers.empty()) return {};
  const Duration horizon = time_limit_s_ > 0 ? from_seconds(time_limit_s_) : std::chrono::hours(24);
  const std::uint64_t seed =
      options_.straggler_seed != 0 ? options_.straggler_seed : options_.learner.seed;
  TRY_ASSIGN(script_, read_straggler_script(options_.stragglers, worker_slots(), seed, horizon));
  return {};
}

void Head::catch_signals() {
  signals_.add(SIGINT);
  signals_.add(SIGTERM);
  signals_.async_wait([this](const boost::system::error_code& error, int) {
    if (error) return;
    signals_.clear();  // a second one ends at once
    if (finishing_) return;
    if (!training_) return end_with({Code::Cancelled, "stopped before it trained"});
    conductor_->finish("it was asked to stop", now());
    pump();
  });
}

void Head::end_with(const Error& error) {
  if (over_) return;
  over_ = true;
  end_ = error;
}

// What is under way when the run is over is waited for: the last evaluation, the last checkpoint.
void Head::maybe_done() {
  if (!finishing_ || over_) return;
  if (!snapshots_.empty() || !evaluations_.empty() || saving_ > 0 || best_->busy()) return;
  over_ = true;
}

// A member that hangs in the last sum is given up after the patience of a ring: the others have
// failed by then.
void Head::bound_the_end() {
  if (finishing_ || !conductor_->ending()) return;
  if (!run_end_.overdue(now(), from_seconds(options_.ring_patience_s) + kEndPatience)) return;
  for (const int id : std::set<int>(ring_.waiting)) lose_worker(id, "did not end the last sum");
}

void Head::write_tables() {
  log_->flush();
  const Status written = log_->status();
  if (written.ok() || !run_end_.fail(written.error())) return;
  tally_.warnings.push_back(written.error().message);
  progress_->say(written.error().message);
}

// They end by themselves when told to; whoever does not is killed.
void Head::wait_for_parts() {
  const auto stop = [](PartState& part) {
    if (part.line) part.line->send(MessageType::Stop, 0, Nothing{});
  };
  for (auto& [id, worker] : workers_) stop(worker);
  for (PartState& shard : shards_) stop(shard);
  stop(evaluator_);
  const auto deadline = std::chrono::steady_clock::now() + kEndPatience;
  while (!children_->running().empty() && std::chrono::steady_clock::now() < deadline) {
    if (io_.run_one_until(deadline) == 0) break;
  }
}

void Head::on_tick() {
  Duration pause = kTick;
  if (training_ && time_limit_s_ > 0) {
    constexpr Duration kLeast = std::chrono::milliseconds(1);
    pause = std::clamp(from_seconds(time_limit_s_) - now().time_since_epoch(), kLeast, pause);
  }
  ticker_.expires_after(pause);
  ticker_.async_wait([this](const boost::system::error_code& error) {
    if (error || over_) return;
    if (load_) load_->sample();
    write_tables();
    look_at_pulses();
    look_at_gang();
    look_at_ring();
    if (over_) return;
    if (shared_) report_to_servers();
    if (training_ && !finishing_) {
      probe_links();
      look_at_links();
      clocks_.sample(now());
      conductor_->tick(now());
      if (time_limit_s_ > 0 && seconds(now()) >= time_limit_s_) {
        conductor_->finish("the time was up", now());
      }
      bound_the_end();
      grow();
      pump();
      ProgressState state = pace_->at(samples_used_, seconds(now()));
      state.mode = mode_name_;
      state.updates = (from_ ? from_->conductor.version : 0) + conductor_->counts().updates;
      progress_->show(state);
    }
    on_tick();
  });
}

Status Head::set_cpu_of_all(double (*share)(const EmulatedSize&)) {
  if (servers_->cpu_means() == "none") return {};
  for (int server = 0; server < servers_->count(); ++server) {
    TRY(servers_->set_share(server, ServerResource::Cpu, share(servers_->size(server))));
  }
  return {};
}

void Head::apply_script() {
  while (next_step_ < script_.steps.size() && script_.steps[next_step_].at <= now()) {
    const StragglerStep& step = script_.steps[next_step_++];
    const Status done = servers_->set_share(step.server, step.resource, step.share);
    if (!done.ok()) return end_with(done.error());
    tell_link(step.server);
  }
  if (next_step_ >= script_.steps.size()) return;
  script_timer_.expires_after(script_.steps[next_step_].at - now());
  script_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !over_) apply_script();
  });
}

RunSummary Head::summary() const {
  RunSummary result{
      .tally = tally_,
      .counts = tally_.counts + conductor_->counts(),
      .target = options_.target,
      .target_over = options_.target_over,
      .training_s = seconds(finishing_ ? ended_at_ : now()),
      .wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - opened_).count(),
      .workers = static_cast<int>(workers_.size()),
      .steer_cpu_s = tally_.steer_cpu_s + director_->cpu_s(),
      .worker_cpu_s = clocks_.mean_s(),
      .best = own_folder_ ? best_->best() : best_->on_disk(),
      .folder = own_folder_ ? "" : folder_};
  if (end_.ok()) result.kept = run_end_.outcome(conductor_->state().version);
  result.tally.refused_connections += host_->refused();
  if (servers_) {
    result.cpu_means = servers_->cpu_means();
    result.link_means = servers_->link_means();
    result.load = load_->load();
    result.measured_load = true;
  }
  return result;
}

}  // namespace orrery
