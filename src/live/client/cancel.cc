#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/plain_text.h"
#include "live/client/commands.h"
#include "live/client/job_texts.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

// The jobs that have not ended and match.
Result<std::vector<JobNumber>> matching(const JobFilter& filter, Client& client,
                                        const CommandContext& context) {
  TRY_ASSIGN(const StatusAnswer answer,
             ask_again(context, [&] { return client.status({.finished = false}); }));
  std::vector<JobNumber> jobs;
  for (const JobStatus& job : answer.jobs) {
    if (!is_final(job.state) && filter.matches(job)) jobs.push_back(job.id);
  }
  return jobs;
}

// More than one job that was not named by its number needs a yes.
Status confirm(const std::vector<JobNumber>& jobs, const CommandContext& context) {
  constexpr std::size_t kShown = 10;
  const std::string shown = fmt::format(
      "{}{}",
      fmt::join(jobs.begin(),
                jobs.begin() + static_cast<std::ptrdiff_t>(std::min(jobs.size(), kShown)), ", "),
      jobs.size() > kShown ? ", ..." : "");
  if (!context.can_answer) {
    return invalid(
        fmt::format("{} jobs match ({}); write --yes to cancel all of them", jobs.size(), shown));
  }
  context.print_error(fmt::format("cancel {} jobs ({})? Write yes:", jobs.size(), shown));
  TRY_ASSIGN(const std::string answer, context.read_line());
  if (answer == "yes" || answer == "y") return {};
  return Error{Code::Cancelled, "nothing was cancelled"};
}

Result<std::vector<JobNumber>> numbers_of(const std::vector<std::string>& texts) {
  std::vector<JobNumber> numbers;
  for (const std::string& text : texts) {
    TRY_ASSIGN(const std::vector<JobNumber> jobs, parse_job_numbers(text));
    numbers.insert(numbers.end(), jobs.begin(), jobs.end());
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

}  // namespace

Status cancel_command(const CancelArguments& arguments, const CommandContext& context) {
  CancelRequest request;
  TRY_ASSIGN(request.ids, numbers_of(arguments.ids));
  JobFilter filter = arguments.filter;
  if (request.ids.empty() && filter.empty()) {
    const std::string& state = arguments.connection.state;
    return invalid(fmt::format(
        "say which jobs, such as 17 or 17-20, or --state pending or --name 'train-*'{}",
        state.empty() ? ""
                      : fmt::format("; '{}' is none of {}", plain_text(state), all_job_states())));
  }
  if (!request.ids.empty() && !filter.empty()) {
    return invalid("--user, --name and --state choose jobs; leave them out, or the numbers");
  }
  if (filter.wants_ended()) return invalid("--state: jobs that have ended cannot be cancelled");
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  if (!filter.empty()) {
    filter.user =
        full_user(filter.user.empty() ? "me" : filter.user, arguments.connection, context);
    TRY_ASSIGN(request.ids, matching(filter, *client, context));
    if (request.ids.empty()) {
      return print_done(arguments.json, {{"cancelled", Json::array()}, {"ended", Json::array()}},
                        fmt::format("no job of {} matches\n", filter.user), context);
    }
    if (request.ids.size() > 1 && !arguments.yes) TRY(confirm(request.ids, context));
  }
  TRY_ASSIGN(CancelAnswer answer, client->cancel(request));
  std::ranges::sort(answer.cancelled);
  std::vector<JobNumber> ended;
  std::ranges::set_difference(request.ids, answer.cancelled, std::back_inserter(ended));
  std::string text;
  if (!answer.cancelled.empty()) {
    text += fmt::format("cancelled {}\n", fmt::join(answer.cancelled, ", "));
  }
  if (!ended.empty()) text += fmt::format("had ended already: {}\n", fmt::join(ended, ", "));
  return print_done(arguments.json, {{"cancelled", answer.cancelled}, {"ended", ended}}, text,
                    context);
}

}  // namespace orrery
