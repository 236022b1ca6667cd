#include "experiments/star/two_jobs.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>

#include "experiments/star/program.h"

namespace orrery {

std::string_view embedded_one_slow_txt();

namespace {

namespace fs = std::filesystem;

constexpr int kLookEvery_ms = 200;
// One of B's workers is half as fast as the others, which therefore wait for it: time that costs
// nothing to give away.
constexpr std::string_view kUneven = "at 0s server last cpu 0.5\n";

std::vector<std::string> run_words(const std::string& folder, std::string_view job,
                                   std::uint64_t seed) {
  const std::string own = fmt::format("{}/{}", folder, job);
  return {"run",
          "--arch",
          "ps",
          "--workers",
          "4",
          "--model",
          "cnn",
          "--data",
          "mnist",
          "--batch",
          "512",
          "--rate",
          "0.1",
          "--cores",
          "0.06",
          "--link",
          "20000000",
          "--servers",
          folder + "/servers",
          "--stragglers",
          own + ".txt",
          "--seed",
          fmt::to_string(seed),
          "--dir",
          own,
          "--quiet",
          "--json"};
}

// Reads what the servers say until it has `what` in it; an error where they, or the run that is to
// make them say so, end before, or all is stopped.
Status wait_for(const Program& servers, const Program* run, std::string& said,
                std::string_view what, const std::atomic<bool>& stop) {
  while (said.find(what) == std::string::npos) {
    pollfd line{.fd = servers.output().get(), .events = POLLIN, .revents = 0};
    const bool came = poll(&line, 1, kLookEvery_ms) > 0;
    if (stop) return Error{Code::Cancelled, "interrupted"};
    if (!came && run != nullptr && run->ended_within(0)) {
      return Error{Code::Unavailable, "a run ended before it trained"};
    }
    if (!came) continue;
    std::array<char, 512> buffer{};
    const ssize_t count = read(servers.output().get(), buffer.data(), buffer.size());
    if (count <= 0) return Error{Code::Unavailable, "the servers ended"};
    said.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return {};
}

Status wait_for_end(Program& run, const RunMatrixOptions& options, const std::string& log,
                    const std::atomic<bool>& stop) {
  bool signalled = false;
  while (!run.ended_within(kLookEvery_ms)) {
    if (stop && !std::exchange(signalled, true)) run.signal(SIGINT);
  }
  TRY_ASSIGN(const int status, run.wait());
  if (stop) return Error{Code::Cancelled, "interrupted"};
  const std::string failed = why_it_failed(options.program, status, log);
  return failed.empty() ? Status{} : Status(Error{Code::Internal, failed});
}

Status run_once(const TwoJobsRun& run, const RunMatrixOptions& options, const std::string& folder,
                const std::atomic<bool>& stop) {
  std::error_code problem;
  fs::remove_all(folder, problem);
  fs::create_directories(folder, problem);
  if (problem) return system_error(folder, problem.value());
  TRY(write_file_atomically(folder + "/a.txt", embedded_one_slow_txt()));
  TRY(write_file_atomically(folder + "/b.txt", kUneven));
  const auto start = [&](std::vector<std::string> words, const std::string& out,
                         const std::string& log) {
    words.insert(words.begin(), options.program);
    const bool trains = words[1] == "run" && !options.data_folder.empty();
    if (trains) words.insert(words.end(), {"--data-folder", options.data_folder});
    return Program::start(words, out, log);
  };
  std::string said;
  TRY_ASSIGN(Program servers, start(run.servers_command(folder), "", folder + "/servers.log"));
  TRY(wait_for(servers, nullptr, said, " at ", stop));
  // One after the other, so that they always get the same places.
  std::vector<Program> runs;
  std::vector<std::string> logs;
  for (const bool is_a : {true, false}) {
    if (!(is_a ? run.has_a() : run.has_b())) continue;
    const std::string own = folder + (is_a ? "/a" : "/b");
    TRY_ASSIGN(Program job, start(is_a ? run.a_command(folder) : run.b_command(folder),
                                  own + ".new", own + ".log"));
    runs.push_back(std::move(job));
    logs.push_back(own + ".log");
    const std::string ready = fmt::format("job {} is ready", runs.size());
    const Status there = wait_for(servers, &runs.back(), said, ready, stop);
    if (!there.ok() && !stop) TRY(wait_for_end(runs.back(), options, logs.back(), stop));
    TRY(Status(there));
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    TRY(wait_for_end(runs[i], options, logs[i], stop));
  }
  servers.signal(SIGTERM);
  TRY(servers.wait());
  for (const char* const job : {"/a", "/b"}) {
    const std::string own = folder + job;
    if (fs::exists(own + ".new")) fs::rename(own + ".new", own + ".json", problem);
  }
  return {};
}

Result<TwoJobsResult> read_result(const TwoJobsRun& run, const std::string& folder) {
  TwoJobsResult result;
  const auto read = [&](const char* job) -> Result<RunResult> {
    TRY_ASSIGN(const std::string text, read_file(folder + job));
    return parse_result(text);
  };
  if (run.has_a()) {
    TRY_ASSIGN(result.a, read("/a.json"));
  }
  if (run.has_b()) {
    TRY_ASSIGN(result.b, read("/b.json"));
  }
  return result;
}

bool trusted(const TwoJobsResult& result) {
  return (!result.a || result.a->trusted()) && (!result.b || result.b->trusted());
}

}  // namespace

std::string TwoJobsRun::name() const {
  constexpr std::array<std::string_view, 4> kNames = {"alone-a", "alone-b", "without", "with"};
  return fmt::format("two-jobs-{}-s{}", kNames[static_cast<std::size_t>(arm)], seed);
}

// A's parameter server is sized for the gradients that come while it straggles in SSGD, and its
// server is full: with knowledge of what is to come it would have asked for more.
std::vector<std::string> TwoJobsRun::servers_command(const std::string& folder) const {
  std::vector<std::string> words = {"servers", "--dir", folder + "/servers", "--count", "3",
                                    "--cores", "0.188"};
  if (arm == TwoJobsArm::Without) words.emplace_back("--no-consideration");
  return words;
}

std::vector<std::string> TwoJobsRun::a_command(const std::string& folder) const {
  std::vector<std::string> words = run_words(folder, "a", seed);
  words.insert(words.end(), {"--mode", "star", "--shard-cores", "0.008", "--target", "0.95",
                             "--steps", "8000", "--time-limit", "300s"});
  return words;
}

std::vector<std::string> TwoJobsRun::b_command(const std::string& folder) const {
  std::vector<std::string> words = run_words(folder, "b", seed + 100);
  words.insert(words.end(), {"--mode", "ssgd", "--shard-cores", "0.06", "--steps", "2000",
                             "--time-limit", "300s"});
  return words;
}

std::vector<TwoJobsRun> two_jobs_runs(int seeds, const std::string& only) {
  std::vector<TwoJobsRun> runs;
  for (int seed = 1; seed <= seeds; ++seed) {
    for (const TwoJobsArm arm : kTwoJobsArms) {
      const TwoJobsRun run{.arm = arm, .seed = static_cast<std::uint64_t>(seed)};
      if (run.name().find(only) != std::string::npos) runs.push_back(run);
    }
  }
  return runs;
}

Result<TwoJobsResults> run_two_jobs(std::span<const TwoJobsRun> runs,
                                    const RunMatrixOptions& options, const std::atomic<bool>& stop,
                                    const std::function<void()>& done) {
  TwoJobsResults results;
  for (const TwoJobsRun& run : runs) {
    const std::string folder = options.folder + "/" + run.name();
    Result<TwoJobsResult> result = read_result(run, folder);
    for (int tried = 0; tried < options.tries && !stop; ++tried) {
      if (result.ok() && trusted(result.value())) break;
      const Status status = run_once(run, options, folder, stop);
      if (stop) break;
      result = status.ok() ? read_result(run, folder) : Result<TwoJobsResult>(status.error());
    }
    if (!result.ok() && stop) continue;
    TwoJobsResult kept;
    if (result.ok()) {
      kept = std::move(result).value();
    } else {
      kept.a.emplace().problem = result.error().message;
    }
    results.emplace(run.name(), std::move(kept));
    done();
  }
  return results;
}

}  // namespace orrery
