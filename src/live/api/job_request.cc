#include "live/api/job_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/plain_text.h"
#include "base/utf8.h"
#include "live/api/output_pattern.h"
#include "model/cluster.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

constexpr std::int64_t kCpuMilliMax = 100'000'000;
constexpr std::int64_t kMemoryMax = std::int64_t{1} << 50;
constexpr int kJobGpusMax = 1'000'000;
constexpr Duration kLongest = std::chrono::hours(24 * 3650);
constexpr int kSignalMax = 64;

bool has_zero(std::string_view text) { return text.find('\0') != std::string_view::npos; }

Status check_word(std::string_view field, std::string_view word, std::size_t most = 256) {
  if (word.size() <= most && is_plain_text(word)) return {};
  return invalid(
      fmt::format("{}: write at most {} bytes of UTF-8, without control characters and without "
                  "characters that are invisible or change the direction of writing",
                  field, most));
}

Status check_path(std::string_view field, std::string_view path) {
  if (path.empty() ||
      (path.front() == '/' && path.size() < 4096 && !has_zero(path) && is_utf8(path))) {
    return {};
  }
  return invalid(fmt::format("{}: '{}' is not an absolute path", field, path.substr(0, 100)));
}

Status check_program(const JobRequest& request) {
  if (request.argv.empty() || request.argv.front().empty()) {
    return invalid("command: there is none; write it after --, as in `orrery submit -- train.sh`");
  }
  std::size_t bytes = 0;
  for (const std::string& argument : request.argv) {
    if (has_zero(argument)) return invalid("command: an argument holds a zero byte");
    if (!is_utf8(argument)) return invalid("command: an argument is not UTF-8");
    if (argument.size() >= kWordBytesMax) {
      return invalid(
          fmt::format("command: an argument has {} bytes; at most {} can be passed to a "
                      "program, so hand larger things over in a file",
                      argument.size(), kWordBytesMax - 1));
    }
    bytes += argument.size() + 1;
  }
  for (const auto& [name, value] : request.environment) {
    if (name.empty() || name.find('=') != std::string::npos || has_zero(name) || has_zero(value)) {
      return invalid(fmt::format("environment: '{}' is no name of a variable", name));
    }
    if (!is_utf8(name)) return invalid("environment: the name of a variable is not UTF-8");
    if (!is_utf8(value)) {
      return invalid(fmt::format("environment: the value of {} is not UTF-8", name.substr(0, 100)));
    }
    const std::size_t size = name.size() + value.size() + 2;
    if (size > kWordBytesMax) {
      return invalid(
          fmt::format("environment: {} has {} bytes; at most {} can be passed to a "
                      "program, so leave it out",
                      name.substr(0, 100), size, kWordBytesMax));
    }
    bytes += size;
  }
  if (bytes <= kRequestBytesMax) return {};
  return {{Code::InvalidArgument,
           fmt::format("command and environment are {} bytes; at most {} are taken, so export "
                       "fewer variables, or hand larger things over in a file",
                       bytes, kRequestBytesMax)}};
}

Status check_numbers(const JobRequest& request) {
  const auto within = [](std::string_view field, std::int64_t value, std::int64_t least,
                         std::int64_t most) -> Status {
    if (value >= least && value <= most) return {};
    return invalid(fmt::format("{}: {} is not between {} and {}", field, value, least, most));
  };
  const auto lasts = [](std::string_view field, Duration value, Duration least,
                        Duration most) -> Status {
    if (value >= least && value <= most) return {};
    return invalid(fmt::format("{}: {} is not between {} and {}", field, duration_text(value),
                               duration_text(least), duration_text(most)));
  };
  TRY(within("gpus", request.gpus, 1, kJobGpusMax));
  TRY(within("cpus (in thousandths)", request.cpu_milli, 0, kCpuMilliMax));
  TRY(within("memory (bytes)", request.memory_bytes, 0, kMemoryMax));
  TRY(within("priority", request.priority, -kPriorityMax, kPriorityMax));
  TRY(within("retries", request.retries, 0, kRetriesMax));
  TRY(lasts("expected", request.expected, {}, kLongest));
  TRY(lasts("start cost", request.start_cost, {}, kLongest));
  TRY(lasts("grace", request.grace, {}, std::chrono::hours(24)));
  if (request.node_timeout != Duration::zero()) {
    TRY(lasts("node timeout", request.node_timeout, kNodeTimeoutMin, kNodeTimeoutMax));
  }
  if (request.deadline) {
    TRY(lasts("deadline", *request.deadline, Duration(1), kLongest));
  }
  TRY(lasts("time limit", request.time_limit, {}, kLongest));
  TRY(within("signal", request.signal, 0, kSignalMax));
  TRY(lasts("signal before", request.signal_before, {}, kLongest));
  if (request.signal != 0 && request.time_limit <= Duration::zero()) {
    return invalid("signal: there is no time limit ahead of which it could be sent");
  }
  if (request.time_limit > Duration::zero() && request.expected > request.time_limit) {
    return invalid("time: the job is expected to run longer than its time limit");
  }
  if (request.gpus_min == 0 && request.gpus_max == 0) return {};
  TRY(within("elastic", request.gpus_min, 1, request.gpus_max));
  TRY(within("elastic", request.gpus_max, 1, kJobGpusMax));
  return within("gpus (of an elastic job)", request.gpus, request.gpus_min, request.gpus_max);
}

Status check_lists(const JobRequest& request) {
  if (request.array.size() > kArrayMax) {
    return {{Code::InvalidArgument, fmt::format("array: {} jobs at once; submit at most {}",
                                                request.array.size(), kArrayMax)}};
  }
  std::vector<int> sorted = request.array;
  if (!std::ranges::is_sorted(sorted)) std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    return invalid(fmt::format("array: {} is named twice", *twice));
  }
  if (request.after.size() > 1000) return invalid("after: name at most 1000 jobs");
  for (const JobNumber job : request.after) {
    if (job < 1) return invalid(fmt::format("after: there is no job {}", job));
  }
  return {};
}

}  // namespace

Result<Duration> parse_node_timeout(std::string_view text) {
  if (text == "never") return kNodeTimeoutMax;
  TRY_ASSIGN(const Duration timeout, parse_duration(text));
  if (timeout < kNodeTimeoutMin || timeout > kNodeTimeoutMax) {
    return invalid(fmt::format("'{}': write at least 1s, such as 12h, or never", text));
  }
  return timeout;
}

Status check(const JobRequest& request) {
  TRY(check_program(request));
  TRY(check_word("name", request.name));
  TRY(check_word("user", request.user));
  TRY(check_word("tenant", request.tenant));
  TRY(check_word("gpu type", request.gpu_type));
  TRY(check_word("profile", request.model));
  TRY(check_path("directory", request.directory));
  TRY(check_path("output", request.output));
  TRY(check_path("error", request.errors));
  if (Status fits = check_output_pattern(request.output, !request.array.empty()); !fits.ok()) {
    return std::move(fits).error().at("output");
  }
  if (Status fits = check_output_pattern(request.errors, !request.array.empty()); !fits.ok()) {
    return std::move(fits).error().at("error");
  }
  TRY(check_path("checkpoint directory", request.checkpoint_directory));
  if (request.directory.empty()) return invalid("directory: say where the job shall run");
  TRY(check_numbers(request));
  return check_lists(request);
}

}  // namespace orrery
