#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "live/client/commands.h"
#include "live/client/job_texts.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

constexpr std::int64_t kPieceMost = 1 << 20;  // bytes in one answer
// The end of a log that is read at first to find its last lines; four times as much each time that
// is not enough. Lines beyond the most are cut.
constexpr std::int64_t kEndFirst = 64 << 10;
constexpr std::int64_t kEndMost = 64 << 20;

// The last `lines` of a text, a line without an end included.
std::string_view last_lines(std::string_view text, std::int64_t lines) {
  std::size_t at = text.size();
  if (at > 0 && text[at - 1] == '\n') --at;
  for (; lines > 0; --lines) {
    const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    if (before == std::string_view::npos) return text;
    at = before;
  }
  return text.substr(at + 1);
}

class LogReader {
 public:
  LogReader(const LogsArguments& arguments, JobNumber job, Client& client,
            const CommandContext& context)
      : arguments_(arguments),
        client_(client),
        context_(context),
        request_{.id = job, .rank = arguments.rank, .errors = arguments.errors} {}

  Status run() {
    constexpr Duration kOneCall = std::chrono::seconds(1);
    constexpr Duration kApart = std::chrono::milliseconds(50);
    if (arguments_.follow) {
      context_.catch_interrupts();
      request_.wait = kOneCall;
    }
    if (arguments_.tail) {
      TRY_ASSIGN(const std::string end, read_end());
      TRY(print(last_lines(end, *arguments_.tail)));
    }
    while (!ended_ && !context_.interrupted()) {
      TRY_ASSIGN(const std::string bytes, read());
      TRY(print(bytes));
      if (!bytes.empty() || ended_) continue;
      if (!arguments_.follow) return {};
      context_.pause(kApart);
    }
    return {};
  }

 private:
  Status print(std::string_view text) const {
    if (text.empty()) return {};
    if (!arguments_.json) return context_.print(text);
    return print_done(arguments_.json,
                      {{"id", request_.id}, {"rank", request_.rank}, {"text", text}}, text,
                      context_);
  }

  // The next piece.
  Result<std::string> read() {
    TRY_ASSIGN(LogsAnswer answer,
               ask_for(context_, patience_, [&] { return client_.logs(request_); }));
    if (arguments_.follow) patience_ = kPatienceOfFollowers;
    begun_at_ = answer.next - std::ssize(answer.bytes);
    request_.offset = answer.next;
    request_.node = answer.node;
    ended_ = answer.ended;
    return std::move(answer.bytes);
  }

  // What is there now of the log's end, with the lines that are wanted.
  Result<std::string> read_end() {
    const Duration wait = std::exchange(request_.wait, Duration::zero());
    const std::int64_t most = std::exchange(request_.most, kPieceMost);
    std::string end;
    for (std::int64_t size = kEndFirst;; size *= 4) {
      request_.offset = -size;
      // A job that has not started has no end that could be read; it is waited for.
      request_.wait = wait;
      TRY_ASSIGN(end, read());
      request_.wait = Duration::zero();
      const std::int64_t first = begun_at_;
      for (std::int64_t got = std::ssize(end); got > 0 && std::ssize(end) < size && !ended_;) {
        TRY_ASSIGN(const std::string more, read());
        end += more;
        got = std::ssize(more);
      }
      const auto lines = std::ranges::count(end, '\n');
      if (first <= 0 || lines > *arguments_.tail || size >= kEndMost) break;
    }
    request_.wait = wait;
    request_.most = most;
    return end;
  }

  const LogsArguments& arguments_;
  Client& client_;
  const CommandContext& context_;
  LogsRequest request_;
  Duration patience_ = kPatience;
  std::int64_t begun_at_ = 0;  // of the last piece
  bool ended_ = false;
};

}  // namespace

Status logs_command(const LogsArguments& arguments, const CommandContext& context) {
  std::vector<JobNumber> jobs;
  for (const std::string& text : arguments.ids) {
    TRY_ASSIGN(const std::vector<JobNumber> some, parse_job_numbers(text));
    jobs.insert(jobs.end(), some.begin(), some.end());
  }
  if (jobs.empty()) return invalid("say which job, such as 17");
  if (arguments.follow && jobs.size() > 1) {
    return invalid("--follow: one job at a time; leave out the others, or --follow");
  }
  if (arguments.rank < 0) return invalid("--rank: they are numbered from 0");
  if (arguments.tail && *arguments.tail < 1) return invalid("--tail: write at least 1 line");
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  for (const JobNumber job : jobs) {
    if (jobs.size() > 1 && !arguments.json) {
      TRY(context.print(fmt::format("{}==> job {} <==\n", job == jobs.front() ? "" : "\n", job)));
    }
    TRY(LogReader(arguments, job, *client, context).run());
  }
  return {};
}

}  // namespace orrery
