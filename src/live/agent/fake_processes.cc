#include "live/agent/fake_processes.h"

#include <algorithm>
#include <utility>

#include "live/agent/node_options.h"

namespace orrery {
namespace {

Error full() { return {Code::ResourceExhausted, "no space left"}; }

}  // namespace

void FakeProcesses::advance(Duration now) {
  now_ = now;
  for (auto& [name, job] : jobs_) {
    if (job.end) continue;
    const Duration until = runs_until(lease_, job.launch.node_timeout);
    if (job.launch.ends_with_lease && until <= std::min(now_, job.ends_at)) {
      begin_stop(job, until, job.launch.grace, JobEnd::Kind::LeaseLost);
    }
    if (job.script.iteration > Duration::zero()) {
      const Duration ran = std::min(now_, job.ends_at) - job.started;
      const auto done = ran / job.script.iteration;
      if (std::exchange(job.iteration, done) != done) speak(name, JobWord::Kind::Progress, done);
    }
    if (job.ends_at > now_) continue;
    job.end = job.will_be;
    if (job.end->kind == JobEnd::Kind::LeaseLost) ++lease_losses_;
    if (job.resting && succeeded(*job.end)) rested_.insert(name);
    if (!job.stopping && succeeded(*job.end)) {
      speak(name, JobWord::Kind::Checkpointed, job.iteration);
      speak(name, JobWord::Kind::Bye, 0, !job.resting);
    }
  }
}

std::vector<Launch> FakeProcesses::running() const {
  std::vector<Launch> running;
  for (const auto& [name, job] : jobs_) {
    if (!job.end) running.push_back(job.launch);
  }
  return running;
}

void FakeProcesses::reboot() {
  for (auto& [name, job] : jobs_) {
    if (!job.end) job.end = JobEnd{.kind = JobEnd::Kind::SupervisorLost};
  }
}

void FakeProcesses::lose_state() {
  jobs_.clear();
  said_.clear();
  lease_ = {};
}

Result<std::vector<FakeProcesses::Found>> FakeProcesses::adopt() {
  std::vector<Found> found;
  for (auto& [name, job] : jobs_) {
    found.push_back({.launch = job.launch, .end = job.end});
    job.reported = job.end.has_value();
  }
  return found;
}

Status FakeProcesses::start(const Launch& launch) {
  const LaunchName name = name_of(launch);
  TRY(check_launch(launch));
  if (jobs_.contains(name)) return Error{Code::AlreadyExists, text(name) + ": exists"};
  if (writes_fail_) return full();
  const Script script = script_ ? script_(name) : Script{};
  if (!script.refused.empty()) return Error{Code::FailedPrecondition, script.refused};
  ++starts_[name];
  const bool ends = script.runs < Duration::max() - now_;
  jobs_[name] = {.launch = launch,
                 .script = script,
                 .started = now_,
                 .ends_at = ends ? now_ + script.runs : Duration::max(),
                 .will_be = {.kind = JobEnd::Kind::Exited, .exit_code = script.exit_code}};
  return {};
}

Status FakeProcesses::stop(const LaunchName& name, Duration grace, JobEnd::Kind why) {
  const auto at = jobs_.find(name);
  if (at == jobs_.end()) return Error{Code::NotFound, text(name) + ": is not here"};
  asked_[name] = why;
  if (!at->second.end) begin_stop(at->second, now_, grace, why);
  return {};
}

std::vector<FakeProcesses::Ended> FakeProcesses::ended() {
  std::vector<Ended> ended;
  for (auto& [name, job] : jobs_) {
    if (!job.end || std::exchange(job.reported, true)) continue;
    ended.push_back({.name = name, .end = *job.end});
  }
  return ended;
}

void FakeProcesses::speak(const LaunchName& name, JobWord::Kind kind, std::int64_t iteration,
                          bool finished) {
  if (jobs_.at(name).script.iteration == Duration::zero()) return;
  JobWord word{.launch = text(name), .rank = name.rank, .kind = kind, .iteration = iteration};
  word.finished = finished;
  said_.push_back({.name = name, .word = std::move(word)});
}

std::vector<FakeProcesses::Said> FakeProcesses::said() { return std::exchange(said_, {}); }

bool FakeProcesses::send(const LaunchName& name, const JobMessage& message) {
  const auto at = jobs_.find(name);
  if (at == jobs_.end() || at->second.end) return false;
  Job& job = at->second;
  if (job.script.iteration == Duration::zero()) return false;
  if (const auto* resize = std::get_if<ResizeNotice>(&message)) resizes_[name] = *resize;
  if (std::holds_alternative<PrepareStop>(message)) {
    speak(name, JobWord::Kind::CanStopAt, job.iteration + 1);
  } else if (const auto* stop = std::get_if<StopAt>(&message); stop && !job.script.stubborn) {
    const Duration rests = std::max(now_, job.started + stop->iteration * job.script.iteration);
    if (rests >= job.ends_at) return true;
    job.resting = true;
    job.ends_at = rests;
    job.will_be = {.kind = JobEnd::Kind::Exited, .exit_code = 0};
  }
  return true;
}

Status FakeProcesses::forget(const LaunchName& name) {
  const auto at = jobs_.find(name);
  if (at == jobs_.end()) return Error{Code::NotFound, text(name) + ": is not here"};
  if (!at->second.end) return Error{Code::FailedPrecondition, text(name) + ": runs"};
  jobs_.erase(at);
  return {};
}

Status FakeProcesses::write_lease(const Lease& lease) {
  if (writes_fail_) return full();
  lease_ = lease;
  return {};
}

Result<int> FakeProcesses::master_port(const LaunchName& name) {
  const int next = 20000 + static_cast<int>(ports_.size() % 40000);
  return ports_.try_emplace({name.job, name.epoch}, next).first->second;
}

Result<FakeProcesses::Output> FakeProcesses::read_log(const LogRequest& request,
                                                      std::int64_t most) {
  const auto at = logs_.find(request.launch);
  if (at == logs_.end()) return Error{Code::NotFound, text(request.launch) + ": has no log"};
  const std::int64_t size = std::ssize(at->second);
  const std::int64_t wanted = request.offset < 0 ? size + request.offset : request.offset;
  const auto from = static_cast<std::size_t>(std::clamp<std::int64_t>(wanted, 0, size));
  return Output{.bytes = at->second.substr(from, static_cast<std::size_t>(most)),
                .offset = static_cast<std::int64_t>(from)};
}

void FakeProcesses::begin_stop(Job& job, Duration at, Duration grace, JobEnd::Kind why) {
  const Duration leaves =
      job.script.deaf ? Duration::max() : at + std::min(job.script.leaves, Duration::max() - at);
  const bool first = !std::exchange(job.stopping, true);
  job.kill_at = std::min(job.kill_at, at + grace);
  const Duration gone = std::min(first ? leaves : job.ends_at, job.kill_at);
  if (gone >= job.ends_at) return;
  const bool killed = gone == job.kill_at;
  const JobEnd::Kind kind = first ? why : job.will_be.kind;
  job.will_be = {.kind = kind, .exit_code = killed ? -1 : 7, .signal = killed ? 9 : 0};
  job.ends_at = gone;
}

}  // namespace orrery
