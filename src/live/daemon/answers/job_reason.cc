#include "live/daemon/answers/job_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

#include "live/daemon/answers/job_times.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

std::string instead(const Book& book, Time earliest, Time now) {
  if (earliest == kNever) return "; no deadline could be promised";
  return "; the earliest that can be promised is " + moment_text(book, earliest, now);
}

// The rank that ended the job and its node, of a job with several processes.
std::string place_of_end(const LiveJob& live) {
  if (live.end->rank < 0 || live.ran_on.size() < 2) return "";
  return fmt::format(" (rank {} on {})", live.end->rank, live.end->node);
}

// The message of an end may name files of the job.
std::string end_text(const JobEnd& end, const JobRequest& request, Detail detail) {
  const bool whole = detail == Detail::Whole;
  switch (end.kind) {
    case JobEnd::Kind::Exited:
      return fmt::format("exited with code {}", end.exit_code);
    case JobEnd::Kind::Signalled:
      return fmt::format("killed by signal {} ({})", end.signal, ::strsignal(end.signal));
    case JobEnd::Kind::OutOfMemory:
      return "ran out of the memory it asked for";
    case JobEnd::Kind::NotStarted:
      return whole ? "could not be started: " + end.message : "could not be started";
    case JobEnd::Kind::TimeLimit:
      return fmt::format("time limit of {} reached", duration_text(request.time_limit));
    case JobEnd::Kind::Stopped:
    case JobEnd::Kind::LeaseLost:
    case JobEnd::Kind::SupervisorLost:
      break;
  }
  return end.message.empty() || !whole ? std::string(end_name(end.kind)) : end.message;
}

std::string end_of(const LiveJob& live, Detail detail) {
  return end_text(*live.end, *live.request, detail) + place_of_end(live);
}

// A lost node that may be running a process of the job; empty: there is none.
std::string lost_node_of(const Book& book, const LiveJob& live) {
  for (const LiveLaunch& launch : live.launches) {
    const LiveNode& node = book.node(launch.node);
    if (node.state == NodeState::Lost) return node.offer.name;
  }
  return "";
}

// Jobs are known to people by their numbers; a reason refers to them by ids.
std::string waiting_text(const Book& book, const LiveJob& live, Time now) {
  if (live.reason_other != 0 && live.reason.code == Reason::Code::Dependency) {
    return fmt::format("waits for the end of job #{}", live.reason_other);
  }
  if (live.reason_other != 0 && live.reason.code == Reason::Code::Outranked) {
    return fmt::format("preempted by job #{}", live.reason_other);
  }
  return reason_text(book, live.reason, now);
}

std::string cancelled_text(const LiveJob& live) {
  if (live.reason.code == Reason::Code::Dependency) {
    return live.reason_other == 0
               ? "cancelled: a job that it comes after was not done"
               : fmt::format("cancelled: job #{}, which it comes after, was not done",
                             live.reason_other);
  }
  return "cancelled";  // by its owner or by an operator; the log names them
}

}  // namespace

std::string moment_text(const Book& book, Time at, Time now) {
  const auto since_1970 = Duration(book.unix_ns()) + at.time_since_epoch();
  const auto time =
      static_cast<std::time_t>(std::chrono::ceil<std::chrono::seconds>(since_1970).count());
  std::tm parts{};
  std::array<char, 64> date{};
  if (::localtime_r(&time, &parts) == nullptr) return "a time that no clock shows";
  const std::size_t size = std::strftime(date.data(), date.size(), "%Y-%m-%d %H:%M:%S %Z", &parts);
  const std::string distance =
      at >= now ? "in " + two_unit_text(at - now) : two_unit_text(now - at) + " ago";
  return fmt::format("{} ({})", std::string_view(date.data(), size), distance);
}

bool waits_for_devices(Reason::Code code) {
  constexpr auto kCodes = std::to_array<Reason::Code>(
      {Reason::Code::None, Reason::Code::GpusBusy, Reason::Code::Fragmented, Reason::Code::CpusBusy,
       Reason::Code::MemoryBusy, Reason::Code::BehindOthers, Reason::Code::Outranked,
       Reason::Code::Reserved, Reason::Code::TooLarge, Reason::Code::NoSuchNode,
       Reason::Code::NodeLost, Reason::Code::NotHere});
  return std::ranges::find(kCodes, code) != kCodes.end();
}

std::string reason_text(const Book& book, const Reason& reason, Time now) {
  switch (reason.code) {
    case Reason::Code::TooLate:
      return "refused: not even alone could it be done in time" +
             instead(book, reason.earliest, now);
    case Reason::Code::Promised:
      return fmt::format("refused: from {} to {} it would need {} GPUs, {} are not promised yet",
                         moment_text(book, reason.from, now), moment_text(book, reason.until, now),
                         reason.wanted, reason.available) +
             instead(book, reason.earliest, now);
    case Reason::Code::Later:
      return fmt::format("begins at {}, which is early enough",
                         moment_text(book, reason.from, now));
    default:
      return text(reason);
  }
}

std::string reason_of(const Book& book, const Job& job, const LiveJob& live, Detail detail,
                      Time now) {
  if (job.state == JobState::Done) return "";
  if (job.state == JobState::Failed && live.end) return end_of(live, detail);
  if (job.state == JobState::Cancelled) return cancelled_text(live);
  if (const std::string node = lost_node_of(book, live); !node.empty() && !is_final(job.state)) {
    const Duration unsaved = time_unsaved(live, now);
    return fmt::format(
        "waits for node {}, which does not answer{}", node,
        unsaved < std::chrono::minutes(1)
            ? ""
            : fmt::format("; {} of work is lost if it stays away", two_unit_text(unsaved)));
  }
  if (job.state == JobState::Running) {
    const bool settles = std::ranges::any_of(
        live.launches, [&](const LiveLaunch& launch) { return launch.name.epoch != live.epoch; });
    return settles ? "waits for its earlier processes to end" : "";
  }
  std::string reason = waiting_text(book, live, now);
  if (live.reason.code == Reason::Code::Retry && live.end) reason += ", " + end_of(live, detail);
  return reason;
}

}  // namespace orrery
