#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "live/client/commands.h"
#include "live/client/job_texts.h"

namespace orrery {

Status cancel_command(const CancelArguments& arguments, const CommandContext& context) {
  CancelRequest request;
  for (const std::string& text : arguments.ids) {
    TRY_ASSIGN(const std::vector<JobNumber> jobs, parse_job_numbers(text));
    request.ids.insert(request.ids.end(), jobs.begin(), jobs.end());
  }
  if (request.ids.empty()) return invalid("say which jobs, such as 17 or 17-20");
  std::ranges::sort(request.ids);
  request.ids.erase(std::unique(request.ids.begin(), request.ids.end()), request.ids.end());
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  TRY_ASSIGN(CancelAnswer answer, client->cancel(request));
  std::ranges::sort(answer.cancelled);
  std::vector<JobNumber> ended;
  std::ranges::set_difference(request.ids, answer.cancelled, std::back_inserter(ended));
  std::string text;
  if (!answer.cancelled.empty()) {
    text += fmt::format("cancelled {}\n", fmt::join(answer.cancelled, ", "));
  }
  if (!ended.empty()) text += fmt::format("had ended already: {}\n", fmt::join(ended, ", "));
  return context.print(text);
}

}  // namespace orrery
