#include <fmt/format.h>

#include <algorithm>

#include "live/client/commands.h"
#include "live/client/job_texts.h"
#include "live/client/news.h"
#include "live/client/status_text.h"
#include "live/client/wait_for_jobs.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";

Result<StatusRequest> request_of(const StatusArguments& arguments) {
  StatusRequest request{.finished = arguments.all || arguments.json, .user = arguments.user};
  for (const std::string& text : arguments.ids) {
    TRY_ASSIGN(const std::vector<JobNumber> jobs, parse_job_numbers(text));
    request.ids.insert(request.ids.end(), jobs.begin(), jobs.end());
  }
  if (!request.ids.empty()) {
    if (arguments.all || !arguments.user.empty()) {
      return invalid("--all and --user choose among jobs; leave them out, or the numbers");
    }
    request.finished = true;
    request.predict = true;
  }
  return request;
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

std::string text_of(const StatusAnswer& answer, const StatusRequest& request,
                    const CommandContext& context) {
  if (request.ids.size() == 1 && answer.jobs.size() == 1) {
    return status_card(answer.jobs.front(), answer.now_s);
  }
  std::string text = status_table(answer, context.width);
  if (answer.jobs.empty() && !request.finished) text += "--all lists those that have ended, too\n";
  return text;
}

Status watch(Client& client, const StatusRequest& request, const CommandContext& context) {
  constexpr Duration kRedraw = std::chrono::seconds(2);  // times go on even if nothing happens
  context.catch_interrupts();
  News news(client, context);
  Duration patience = kPatience;
  while (true) {
    TRY_ASSIGN(const StatusAnswer answer,
               ask_for(context, patience, [&] { return client.status(request); }));
    patience = kPatienceOfFollowers;
    const std::string text = text_of(answer, request, context);
    TRY(context.print(context.terminal ? fmt::format("{}{}", kClearScreen, text) : text + '\n'));
    if (context.interrupted()) return {};
    news.wait(kRedraw);
    if (context.interrupted()) return {};
  }
}

}  // namespace

Status status_command(const StatusArguments& arguments, const CommandContext& context) {
  TRY_ASSIGN(const StatusRequest request, request_of(arguments));
  if (arguments.watch && (arguments.json || !arguments.wait_idle.empty())) {
    return invalid("--watch: leave out --json and --wait-idle");
  }
  Duration most{};
  if (!arguments.wait_idle.empty()) {
    if (!request.ids.empty()) {
      return invalid("--wait-idle waits for all jobs; leave out the numbers");
    }
    Result<Duration> parsed = parse_duration(arguments.wait_idle);
    if (!parsed.ok()) return std::move(parsed).error().at("--wait-idle");
    most = parsed.value();
  }
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  if (arguments.watch) return watch(*client, request, context);
  if (!arguments.wait_idle.empty()) {
    Status idle = wait_until_idle(most, *client, context);
    if (!idle.ok() || (!arguments.json && !arguments.all)) return idle;
  }
  TRY_ASSIGN(const StatusAnswer answer,
             ask_again(context, [&] { return client->status(request); }));
  const bool none_found = !request.ids.empty() && answer.jobs.empty();
  if (none_found && !arguments.json) return all_there(request, answer);
  TRY(context.print(arguments.json ? status_json(answer) : text_of(answer, request, context)));
  return all_there(request, answer);
}

}  // namespace orrery
