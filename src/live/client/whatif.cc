#include <fmt/format.h>

#include "base/plain_text.h"
#include "live/client/job_draft.h"
#include "live/client/job_file.h"
#include "live/client/live_variants.h"

namespace orrery {
namespace {

Result<std::optional<JobRequest>> job_of(const LiveWhatif& question,
                                         const CommandContext& context) {
  if (question.job.empty() && question.job_file.empty()) return std::optional<JobRequest>();
  if (!question.job.empty() && !question.job_file.empty()) {
    return invalid("say what the job is by --job or by --job-file, not by both");
  }
  JobDraft draft;
  if (!question.job.empty()) {
    if (Status set = set_all(draft, question.job); !set.ok()) {
      return std::move(set).error().at("--job");
    }
  } else {
    TRY_ASSIGN(std::vector<JobDraft> drafts, read_job_file(question.job_file, context.read_input));
    if (drafts.size() != 1) {
      return invalid(
          fmt::format("{}: has {} jobs; one is asked about", question.job_file, drafts.size()));
    }
    draft = std::move(drafts.front());
  }
  TRY_ASSIGN(JobRequest request, finish(std::move(draft), {.environment = context.environment,
                                                           .directory = context.directory,
                                                           .needs_program = false}));
  return std::optional<JobRequest>(std::move(request));
}

}  // namespace

Status live_whatif(const LiveWhatif& question, const CommandContext& context) {
  WhatIfRequest request{.nodes_more = question.nodes_more, .policy = question.policy};
  if (request.nodes_more < 0) return invalid("--nodes: how many more, not fewer");
  TRY_ASSIGN(request.job, job_of(question, context));
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(question.connection, context));
  TRY_ASSIGN(const WhatIfAnswer answer, client->what_if(request));
  const std::string text = question.json ? answer.json : plain_lines(answer.text);
  return context.print(text.ends_with('\n') ? text : text + '\n');
}

}  // namespace orrery
