#include <fmt/format.h>

#include "workload/formats/logged_jobs.h"
#include "workload/text/date_text.h"
#include "workload/text/json_fields.h"

namespace orrery {
namespace {

using Token = JsonStream::Token;

// One scheduling attempt of a job.
struct Attempt {
  std::optional<Duration> started{};
  std::optional<Duration> ended{};
  std::int64_t gpus = 0;
};

// A job as it builds up, whatever the number of its attempts.
struct PhillyJob {
  std::int64_t line = 0;
  std::string name;
  NameId user = kNoName;
  std::optional<Duration> submitted{};
  std::int64_t attempts = 0;
  Attempt last{};      // of those that ran
  Duration ran{};      // all attempts together
  bool sizes = false;  // attempts had different numbers of GPUs
  bool gpuless = false;
};

// The list may stand on one line, so a beginning is enough.
std::string refusal(std::string_view start) {
  static constexpr std::string_view kBlanks = " \t\r\n";
  if (start.starts_with("\xEF\xBB\xBF")) start.remove_prefix(3);
  const std::size_t open = start.find_first_not_of(kBlanks);
  if (open == std::string_view::npos || start[open] != '[') return "no list in JSON";
  const std::size_t inner = start.find_first_not_of(kBlanks, open + 1);
  if (inner == std::string_view::npos || start[inner] == '{') return {};
  return "no list of objects in JSON";
}

// Calls use() for each object of a list. null stands for an empty list.
template <class Use>
Status each_object(JsonStream& json, std::string_view key, Use use) {
  TRY_ASSIGN(const Token list, json.next());
  if (list == Token::Word && json.text() == "null") return {};
  if (list != Token::BeginList) return json.wrong(fmt::format("'{}' is not a list", key));
  while (true) {
    TRY_ASSIGN(const Token token, json.next());
    if (token == Token::EndList) return {};
    if (token != Token::BeginObject) {
      return json.wrong(fmt::format("'{}' holds something that is no object", key));
    }
    TRY(use());
  }
}

// A string; null is an empty one.
Result<std::string_view> take_text(JsonStream& json, std::string_view key) {
  TRY_ASSIGN(const Token token, json.next());
  if (token == Token::Word && json.text() == "null") return std::string_view();
  if (token != Token::String) return json.wrong(fmt::format("'{}' is not a string", key));
  return json.text();
}

Result<std::string_view> take_name(JsonStream& json, std::string_view key) {
  TRY_ASSIGN(const std::string_view name, take_text(json, key));
  if (auto checked = check_name(name); !checked.ok()) {
    return json.wrong(fmt::format("'{}': {}", key, checked.error().message));
  }
  return name;
}

Result<std::optional<Duration>> take_date(JsonStream& json, std::string_view key) {
  TRY_ASSIGN(const std::string_view text, take_text(json, key));
  if (is_no_value(text)) return std::optional<Duration>();
  auto date = parse_date(text);
  if (!date.ok()) return json.wrong(fmt::format("'{}': {}", key, date.error().message));
  return std::optional(date.value());
}

Result<std::int64_t> count_list(JsonStream& json, std::string_view key) {
  TRY_ASSIGN(const Token list, json.next());
  if (list == Token::Word && json.text() == "null") return 0;
  if (list != Token::BeginList) return json.wrong(fmt::format("'{}' is not a list", key));
  std::int64_t count = 0;
  while (true) {
    TRY_ASSIGN(const Token token, json.next());
    if (token == Token::EndList) return count;
    TRY(json.skip(token));
    ++count;
  }
}

Status read_detail(JsonStream& json, Attempt& attempt) {
  return each_key(json, [&](std::string_view key) -> Status {
    if (key != "gpus") return skip_value(json);
    TRY_ASSIGN(const std::int64_t gpus, count_list(json, "gpus"));
    attempt.gpus += gpus;
    if (attempt.gpus <= kGpusMax) return {};
    return json.wrong(fmt::format("an attempt has more than {} GPUs", kGpusMax));
  });
}

Result<Attempt> read_attempt(JsonStream& json) {
  Attempt attempt;
  TRY(each_key(json, [&](std::string_view key) -> Status {
    if (key == "detail") {
      return each_object(json, "detail", [&] { return read_detail(json, attempt); });
    }
    if (key == "start_time") {
      TRY_ASSIGN(attempt.started, take_date(json, "start_time"));
    } else if (key == "end_time") {
      TRY_ASSIGN(attempt.ended, take_date(json, "end_time"));
    } else {
      return skip_value(json);
    }
    return {};
  }));
  return attempt;
}

// An attempt without times, without GPUs or of no length did no work that could be repeated.
Status add_attempt(const JsonStream& json, const Attempt& attempt, WorkloadBuilder& builder,
                   PhillyJob& job) {
  ++job.attempts;
  if (!attempt.started || !attempt.ended) {
    builder.note_kept("has an attempt without start or end, which is not counted", json.line());
    return {};
  }
  if (attempt.gpus == 0) {
    job.gpuless = true;
    return {};
  }
  if (*attempt.ended <= *attempt.started) {
    builder.note_kept("has an attempt that does not end after its start, which is not counted",
                      json.line());
    return {};
  }
  job.sizes |= job.last.gpus > 0 && job.last.gpus != attempt.gpus;
  job.last = attempt;
  job.ran += *attempt.ended - *attempt.started;
  if (seconds(job.ran) <= kTimeMax_s) return {};
  return json.wrong("the attempts of a job add up to more than 100 years");
}

Result<PhillyJob> read_job(JsonStream& json, WorkloadBuilder& builder) {
  PhillyJob job;
  job.line = json.line();
  TRY(each_key(json, [&](std::string_view key) -> Status {
    if (key == "attempts") {
      return each_object(json, "attempts", [&]() -> Status {
        TRY_ASSIGN(const Attempt attempt, read_attempt(json));
        return add_attempt(json, attempt, builder, job);
      });
    }
    if (key == "jobid") {
      TRY_ASSIGN(job.name, take_name(json, "jobid"));
    } else if (key == "user") {
      TRY_ASSIGN(const std::string_view user, take_name(json, "user"));
      job.user = builder.name_id(user);
    } else if (key == "submitted_time") {
      TRY_ASSIGN(job.submitted, take_date(json, "submitted_time"));
    } else {
      return skip_value(json);
    }
    return {};
  }));
  if (job.name.empty()) return json.wrong("a job has no 'jobid'");
  return job;
}

Status add_job(PhillyJob& from, WorkloadBuilder& builder) {
  JobSpec job;
  job.user = from.user;
  LoggedJob logged{.gpus = from.last.gpus, .submitted = from.submitted};
  // Without one that counts it is the times that lack, not the GPUs.
  if (from.last.gpus == 0 && !from.gpuless) logged.gpus = 1;
  if (from.last.gpus > 0) {
    logged.started = from.last.started;
    logged.ended = *from.last.started + from.ran;
  } else if (from.attempts > 0) {
    logged.started = Duration{};
  }
  if (!accept(logged, from.line, builder, job)) return {};
  if (from.sizes) {
    builder.note_kept("had attempts on different numbers of GPUs; the last counts", from.line);
  }
  job.name = std::move(from.name);
  return add_logged(std::move(job), from.line, builder);
}

Status read(LineReader& lines, WorkloadBuilder& builder) {
  builder.begin_at_first_submission();
  JsonStream json(lines);
  TRY(each_object(json, "the log", [&]() -> Status {
    TRY_ASSIGN(PhillyJob job, read_job(json, builder));
    return add_job(job, builder);
  }));
  TRY(json.next());
  return {};
}

}  // namespace

const TraceReader kPhillyTrace = {
    .format = {.name = "philly",
               .summary = "Microsoft's Philly, cluster_job_log: JSON, attempts with dates and GPUs",
               .columns = "[{jobid,[user],submitted_time,attempts:[{start_time,end_time,"
                          "detail:[{gpus:[...]}]}]}]"},
    .refusal = refusal,
    .read = read,
    .file_in_folder = "cluster_job_log"};

}  // namespace orrery
