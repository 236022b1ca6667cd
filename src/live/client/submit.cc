#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/nearest_word.h"
#include "base/plain_text.h"
#include "live/client/commands.h"
#include "live/client/job_draft.h"
#include "live/client/job_file.h"
#include "live/client/wait_for_jobs.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

struct Submitted {
  std::string name{};  // as the file has it
  SubmitAnswer answer{};
};

std::string line_of(const Submitted& job) {
  const SubmitAnswer& answer = job.answer;
  std::string line = answer.count == 1 ? fmt::format("job {}", answer.first)
                                       : fmt::format("jobs {} to {}", answer.first,
                                                     answer.first + answer.count - 1);
  return line + (job.name.empty() ? "\n" : fmt::format("  {}\n", plain_text(job.name)));
}

Json json_of(const Submitted& job, bool named) {
  Json object;
  object["id"] = job.answer.first;
  if (job.answer.count != 1) object["count"] = job.answer.count;
  if (named) object["name"] = job.name.empty() ? Json() : Json(job.name);
  if (!job.answer.warnings.empty()) object["warnings"] = job.answer.warnings;
  return object;
}

Status check_words(const SubmitArguments& arguments) {
  const auto unknown = std::ranges::find_if(arguments.unexpected,
                                            [](const std::string& word) { return word != "-"; });
  if (unknown == arguments.unexpected.end()) return {};
  const std::string& word = *unknown;
  if (!word.starts_with('-')) {
    return invalid(fmt::format(
        "'{}': write the program after --, as in `orrery submit --gpus 2 -- python3 train.py`",
        word));
  }
  std::vector<std::string_view> names = {"env",   "file",   "wait",        "json",
                                         "state", "server", "credentials", "context"};
  for (const JobSetting& setting : job_settings()) names.push_back(setting.name);
  const std::string name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  return invalid(fmt::format("there is no option {}; did you mean --{}?", word,
                             nearest_word(name.substr(0, name.find('=')), names)));
}

// What is said on the command line wins over the file.
Result<std::vector<JobDraft>> drafts_of(const SubmitArguments& arguments,
                                        const CommandContext& context) {
  std::vector<JobDraft> drafts(1);
  const bool reads_input = !arguments.unexpected.empty();
  if (reads_input && !arguments.file.empty()) {
    return invalid(fmt::format("-: is a job file, and so is {}; leave out one", arguments.file));
  }
  if (reads_input || !arguments.file.empty()) {
    TRY_ASSIGN(drafts, read_job_file(reads_input ? "-" : arguments.file, context.read_input));
  }
  const bool several = drafts.size() > 1;
  if (several && !arguments.program.empty()) {
    return invalid(fmt::format("{} has {} jobs with commands of their own; leave out the one here",
                               arguments.file, drafts.size()));
  }
  for (JobDraft& draft : drafts) {
    for (const auto& [name, text] : arguments.settings) {
      if (several && (name == "name" || name == "after")) {
        return invalid(fmt::format("--{}: {} has {} jobs; say it there for each", name,
                                   arguments.file, drafts.size()));
      }
      const JobSetting* setting = find_setting(name);
      INVARIANT(setting != nullptr, "options are made from the table of settings");
      if (Status set = setting->set(draft, text); !set.ok()) {
        return std::move(set).error().at("--" + name);
      }
    }
    draft.variables.insert(draft.variables.end(), arguments.variables.begin(),
                           arguments.variables.end());
    if (!arguments.program.empty()) draft.request.argv = arguments.program;
  }
  return drafts;
}

// Jobs of one file, each of which may name earlier ones.
class Submission {
 public:
  Submission(Client& client, const CommandContext& context) : client_(client), context_(context) {}

  Status submit(JobRequest request, const std::vector<std::string>& after_names) {
    for (const std::string& name : after_names) {
      const SubmitAnswer& before = by_name_.at(name);
      for (std::int64_t i = 0; i < before.count; ++i) request.after.push_back(before.first + i);
    }
    TRY(check(request));
    std::string name = request.name;
    const SubmitRequest order{.job = std::move(request), .key = context_.random_key()};
    TRY_ASSIGN(SubmitAnswer answer, ask_again(context_, [&] { return client_.submit(order); }));
    if (order.job.deadline) add_refusals(answer);
    by_name_[name] = answer;
    jobs_.push_back({.name = std::move(name), .answer = std::move(answer)});
    return {};
  }

  const std::vector<Submitted>& jobs() const { return jobs_; }

  std::vector<JobNumber> numbers() const {
    std::vector<JobNumber> numbers;
    for (const Submitted& job : jobs_) {
      for (std::int64_t i = 0; i < job.answer.count; ++i) {
        numbers.push_back(job.answer.first + i);
      }
    }
    return numbers;
  }

 private:
  // The policy decides on deadlines in the round after the submission. A scheduler that holds its
  // rounds far apart has not decided yet; `orrery status` shows it later.
  void add_refusals(SubmitAnswer& answer) {
    StatusRequest request;
    for (std::int64_t i = 0; i < std::min(answer.count, kAskedMax); ++i) {
      request.ids.push_back(answer.first + i);
    }
    const auto status = client_.status(request);
    if (!status.ok()) return;  // the jobs are submitted, whether this is answered or not
    for (const JobStatus& job : status.value().jobs) {
      if (job.state != JobState::Rejected) continue;
      answer.warnings.push_back(fmt::format("job {} is {}", job.id, job.reason));
    }
  }

  static constexpr std::int64_t kAskedMax = 100;
  Client& client_;
  const CommandContext& context_;
  std::vector<Submitted> jobs_;
  std::map<std::string, SubmitAnswer> by_name_;
};

Status print_jobs(const std::vector<Submitted>& jobs, bool several, bool json,
                  const CommandContext& context) {
  std::string text;
  Json list = Json::array();
  for (const Submitted& job : jobs) {
    text += line_of(several ? job : Submitted{.name = {}, .answer = job.answer});
    list.push_back(json_of(job, several));
  }
  if (!json) {
    for (const Submitted& job : jobs) {
      const std::string whose = several && !job.name.empty() ? job.name + ": " : "";
      for (const std::string& warning : job.answer.warnings) {
        context.print_error(plain_text("warning: " + whose + warning));
      }
    }
    return context.print(text);
  }
  if (several) return context.print(json_line(Json{{"jobs", std::move(list)}}));
  return list.empty() ? Status() : context.print(json_line(list[0]));
}

}  // namespace

Status submit_command(const SubmitArguments& arguments, const CommandContext& context) {
  TRY(check_words(arguments));
  TRY_ASSIGN(const std::vector<JobDraft> drafts, drafts_of(arguments, context));
  std::vector<JobRequest> requests;
  for (const JobDraft& draft : drafts) {
    TRY_ASSIGN(JobRequest request,
               finish(draft, {.environment = context.environment, .directory = context.directory}));
    requests.push_back(std::move(request));
  }
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  Submission submission(*client, context);
  Status submitted;
  for (std::size_t i = 0; i < requests.size() && submitted.ok(); ++i) {
    submitted = submission.submit(std::move(requests[i]), drafts[i].after_names);
  }
  // Those that were taken exist, whatever became of the next one.
  TRY(print_jobs(submission.jobs(), drafts.size() > 1, arguments.json, context));
  TRY(submitted);
  if (!arguments.wait) return {};
  return wait_for_jobs(submission.numbers(), *client, context, !arguments.json);
}

}  // namespace orrery
