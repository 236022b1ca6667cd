#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "live/client/commands.h"
#include "live/client/job_filter.h"
#include "live/client/job_texts.h"
#include "live/client/news.h"
#include "live/client/status_text.h"
#include "live/client/wait_for_jobs.h"
#include "model/duration_text.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";

// What is asked of the scheduler, and what is chosen from its answer.
struct Question {
  StatusRequest request{};
  JobFilter filter{};
};

bool is_pattern(const std::string& text) { return text.find_first_of("*?[\\") != text.npos; }

Result<Question> question_of(const StatusArguments& arguments, const CommandContext& context) {
  Question question{.filter = arguments.filter};
  StatusRequest& request = question.request;
  JobFilter& filter = question.filter;
  for (const std::string& text : arguments.ids) {
    TRY_ASSIGN(const std::vector<JobNumber> jobs, parse_job_numbers(text));
    request.ids.insert(request.ids.end(), jobs.begin(), jobs.end());
  }
  if (!request.ids.empty()) {
    if (arguments.all || !filter.empty()) {
      return invalid(
          "--all, --user, --name and --state choose among jobs; leave them out, or the numbers");
    }
    request.finished = true;
    request.predict = true;
    return question;
  }
  if (arguments.limit < 0) return invalid("--limit: write at least 1 job");
  request.finished = arguments.all || arguments.list.is_json() || filter.wants_ended();
  filter.user = full_user(filter.user, arguments.connection, context);
  if (!is_pattern(filter.user)) request.user = std::exchange(filter.user, {});
  // The scheduler leaves out the others itself where it can.
  if (arguments.limit > 0 && filter.empty() && arguments.list.sort.empty()) {
    request.limit = arguments.limit;
  }
  return question;
}

Result<StatusAnswer> ask(Client& client, const Question& question, Duration patience,
                         const CommandContext& context) {
  TRY_ASSIGN(StatusAnswer answer,
             ask_for(context, patience, [&] { return client.status(question.request); }));
  std::erase_if(answer.jobs, [&](const JobStatus& job) { return !question.filter.matches(job); });
  return answer;
}

// A number without a job is an error.
Status all_there(const StatusRequest& request, const StatusAnswer& answer) {
  for (const JobNumber id : request.ids) {
    const auto& jobs = answer.jobs;
    if (std::ranges::find(jobs, id, &JobStatus::id) == jobs.end()) {
      return Error{Code::NotFound,
                   fmt::format("there is no job {}; `orrery status --all` lists them", id)};
    }
  }
  return {};
}

// The jobs in the form asked for: the first `limit` of the order asked for, else the newest.
Result<std::string> text_of(const StatusAnswer& answer, const StatusArguments& arguments,
                            const Question& question, const CommandContext& context) {
  if (question.request.ids.size() == 1 && answer.jobs.size() == 1 && !arguments.list.json &&
      arguments.list.output.empty()) {
    return status_card(answer.jobs.front(), answer.now_s);
  }
  Listing listing = job_listing(answer);
  if (listing.rows.empty() && !question.request.finished) {
    listing.summary += "--all lists those that have ended, too\n";
  }
  TRY(sort_rows(listing, arguments.list.sort));
  const std::int64_t over = std::ssize(listing.rows) - arguments.limit;
  if (arguments.limit > 0 && over > 0) {
    const auto begin =
        arguments.list.sort.empty() ? listing.rows.begin() : listing.rows.begin() + arguments.limit;
    listing.rows.erase(begin, begin + over);
  }
  return to_text(std::move(listing), arguments.list, context.width);
}

Status watch(Client& client, const StatusArguments& arguments, const Question& question,
             const CommandContext& context) {
  constexpr Duration kRedraw = std::chrono::seconds(2);  // times go on even if nothing happens
  context.catch_interrupts();
  News news(client, context);
  Duration patience = kPatience;
  while (true) {
    TRY_ASSIGN(const StatusAnswer answer, ask(client, question, patience, context));
    patience = kPatienceOfFollowers;
    TRY_ASSIGN(const std::string text, text_of(answer, arguments, question, context));
    TRY(context.print(context.terminal ? fmt::format("{}{}", kClearScreen, text) : text + '\n'));
    if (context.interrupted()) return {};
    news.wait(kRedraw);
    if (context.interrupted()) return {};
  }
}

Result<Duration> idle_wait(const StatusArguments& arguments) {
  if (!arguments.ids.empty() || !arguments.filter.empty()) {
    return invalid("--wait-idle waits for all jobs; leave out what chooses among them");
  }
  Result<Duration> parsed = parse_duration(arguments.wait_idle);
  if (!parsed.ok()) return std::move(parsed).error().at("--wait-idle");
  return parsed;
}

}  // namespace

Status status_command(const StatusArguments& arguments, const CommandContext& context) {
  TRY(check_output(arguments.list));
  TRY_ASSIGN(const Question question, question_of(arguments, context));
  const bool for_people = arguments.list.output.empty() || arguments.list.output == "table" ||
                          arguments.list.output == "wide";
  if (arguments.watch &&
      (arguments.list.is_json() || !for_people || !arguments.wait_idle.empty())) {
    return invalid("--watch repeats a table; leave out --json, --output and --wait-idle");
  }
  Duration most{};
  if (!arguments.wait_idle.empty()) {
    TRY_ASSIGN(most, idle_wait(arguments));
  }
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  if (arguments.watch) return watch(*client, arguments, question, context);
  if (!arguments.wait_idle.empty()) {
    Status idle = wait_until_idle(most, *client, context);
    const bool lists = arguments.list.json || !arguments.list.output.empty() || arguments.all;
    if (!idle.ok() || !lists) return idle;
  }
  TRY_ASSIGN(const StatusAnswer answer, ask(*client, question, kPatience, context));
  const bool none_found = !question.request.ids.empty() && answer.jobs.empty();
  if (none_found && !arguments.list.is_json()) return all_there(question.request, answer);
  TRY_ASSIGN(const std::string text, text_of(answer, arguments, question, context));
  TRY(context.print(text));
  return all_there(question.request, answer);
}

}  // namespace orrery
