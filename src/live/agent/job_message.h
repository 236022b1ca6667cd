#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "live/job_runner/launch.h"

namespace orrery {

// What a job and its agent say to one another, as values and as lines of JSON. The page
// docs/formats/job-protocol.md describes all of it, for other clients.

inline constexpr int kJobProtocol = 1;
inline constexpr std::size_t kLongestJobLine = 64 * 1024;  // its newline not counted

// Something a job said, or that became of its connection.
struct JobWord {
  enum class Kind {
    Hello,         // it is there; also after every reconnection
    Progress,      // `iteration` iterations are done, `of` in all
    Checkpointed,  // the state after `iteration` iterations is safe
    CanStopAt,     // and goes no further until a later message
    Bye,           // it will say no more
    Unknown,       // a kind of a later version; not to be acted on
    Gone,          // the connection ended without a bye; it may come back
    Silenced,      // it said too much and is heard no more, see `message`
  };
  std::string launch{};
  int rank = 0;
  Kind kind = Kind::Unknown;
  int version = 0;  // of Hello
  std::int64_t iteration = 0;
  std::int64_t of = 0;  // 0: not known
  std::optional<double> loss{};
  std::optional<double> samples{};  // in all, since the job began
  bool finished = false;            // of Bye: the job's work is done, whatever it was asked
  std::string message{};

  friend bool operator==(const JobWord&, const JobWord&) = default;
};
std::string_view job_word_name(JobWord::Kind kind);

enum class StopReason { Preempt, Resize, Drain, Cancel };
std::string_view stop_reason_name(StopReason reason);
StopReason parse_stop_reason(std::string_view name);  // Preempt where it is none of them

struct PrepareStop {};
struct StopAt {
  std::int64_t iteration = 0;
  StopReason reason = StopReason::Preempt;
};
// What the job will have after its next start.
struct ResizeNotice {
  int gpus = 0;
  int ranks = 0;
};
using JobMessage = std::variant<PrepareStop, StopAt, ResizeNotice>;

// One line of a job, without its newline; launch and rank of the word are left to the caller, but
// for Hello, whose rank is what the job says. An Error says what is wrong with the line.
Result<JobWord> read_job_line(std::string_view line);

// Lines to the job, newline included.
std::string message_line(const JobMessage& message);
std::string welcome_line(const Launch& launch);
std::string error_line(std::string_view why);

}  // namespace orrery
