#include "live/client/job_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/nearest_word.h"
#include "live/client/job_texts.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

constexpr int kGpusMax = 1'000'000;

template <std::string JobRequest::*member>
Status set_word(JobDraft& draft, std::string_view text) {
  if (text.empty()) return invalid("is empty; leave it out instead");
  draft.request.*member = text;
  return {};
}

template <Duration JobRequest::*member>
Status set_duration(JobDraft& draft, std::string_view text) {
  TRY_ASSIGN(draft.request.*member, parse_duration(text));
  return {};
}

Status set_node_timeout(JobDraft& draft, std::string_view text) {
  TRY_ASSIGN(draft.request.node_timeout, parse_node_timeout(text));
  return {};
}

Status set_gpus(JobDraft& draft, std::string_view text) {
  TRY_ASSIGN(draft.request.gpus, parse_whole(text, 1, kGpusMax));
  draft.gpus_said = true;
  return {};
}

Status set_cpus(JobDraft& draft, std::string_view text) {
  TRY_ASSIGN(draft.request.cpu_milli, parse_cpus(text));
  return {};
}

Status set_memory(JobDraft& draft, std::string_view text) {
  TRY_ASSIGN(draft.request.memory_bytes, parse_memory(text));
  return {};
}

Status set_deadline(JobDraft& draft, std::string_view text) {
  TRY_ASSIGN(draft.request.deadline, parse_duration(text));
  if (*draft.request.deadline > Duration::zero()) return {};
  return invalid(fmt::format("'{}' is over at once; write 2h, say", text));
}

Status set_priority(JobDraft& draft, std::string_view text) {
  TRY_ASSIGN(draft.request.priority, parse_whole(text, -kPriorityMax, kPriorityMax));
  return {};
}

Status set_elastic(JobDraft& draft, std::string_view text) {
  TRY_ASSIGN(const auto bounds, parse_elastic(text));
  draft.request.gpus_min = bounds.first;
  draft.request.gpus_max = bounds.second;
  return {};
}

Status set_array(JobDraft& draft, std::string_view text) {
  TRY_ASSIGN(draft.request.array, parse_array(text));
  return {};
}

Status set_after(JobDraft& draft, std::string_view text) {
  TRY_ASSIGN(draft.request.after, parse_job_numbers(text));
  return {};
}

Status set_retries(JobDraft& draft, std::string_view text) {
  TRY_ASSIGN(draft.request.retries, parse_whole(text, 0, kRetriesMax));
  return {};
}

Status set_per(JobDraft& draft, std::string_view text) {
  if (text != "gpu" && text != "node") {
    return invalid(fmt::format("'{}': write gpu (a process for each) or node", text));
  }
  draft.request.process_per_gpu = text == "gpu";
  return {};
}

// ALL, NONE, or names and NAME=VALUE with commas between; ALL may be one of these.
Status set_export(JobDraft& draft, std::string_view text) {
  Export& exported = draft.exported.emplace();
  if (text == "NONE") return {};
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    if (word.empty() || word.front() == '=' || word == "NONE") {
      return invalid("write ALL, NONE, or variables such as ALL,SEED=7 or HOME,TOKEN");
    }
    if (word == "ALL") {
      exported.all = true;
    } else {
      exported.variables.emplace_back(word);
    }
    if (comma == std::string_view::npos) return {};
    text.remove_prefix(comma + 1);
  }
}

Status set_time_limit(JobDraft& draft, std::string_view text) {
  TRY_ASSIGN(draft.request.time_limit, parse_duration(text));
  if (draft.request.time_limit > Duration::zero()) return {};
  return invalid(fmt::format("'{}' leaves no time to run; write 2h, say", text));
}

Status set_signal(JobDraft& draft, std::string_view text) {
  TRY_ASSIGN(const auto early, parse_early_signal(text));
  draft.request.signal = early.first;
  draft.request.signal_before = early.second;
  return {};
}

template <bool JobRequest::*member>
Status set_flag(JobDraft& draft, std::string_view text) {
  if (text != "true" && text != "false") return invalid("write true or false");
  draft.request.*member = text == "true";
  return {};
}

constexpr auto kSettings = std::to_array<JobSetting>({
    {"name", "what it is called; the program's name if left out", false,
     set_word<&JobRequest::name>},
    {"user", "whose job it is; the caller's if left out", false, set_word<&JobRequest::user>},
    {"tenant", "whose quota counts; the user's own if left out", false,
     set_word<&JobRequest::tenant>},
    {"gpus", "how many; 1 if left out", false, set_gpus},
    {"gpu-type", "which, such as A100", false, set_word<&JobRequest::gpu_type>},
    {"elastic", "any number of GPUs between two, such as 1..8", false, set_elastic},
    {"cpus", "in all, such as 8 or 0.5", false, set_cpus},
    {"memory", "in all, such as 16G", false, set_memory},
    {"time", "how long it will run, such as 3h", false, set_duration<&JobRequest::expected>},
    {"profile", "the model whose speed profile is taken", false, set_word<&JobRequest::model>},
    {"deadline", "counted from its submission, such as 2h", false, set_deadline},
    {"soft", "a missed deadline is better than none", true,
     set_flag<&JobRequest::deadline_is_soft>},
    {"priority", "-1000 to 1000, the higher the earlier; below 0: only what others leave", false,
     set_priority},
    {"array", "one job for each number: 1-100, 1,3,5-9 or 0-100:10", false, set_array},
    {"after", "begins when these jobs are Done, such as 17 or 17,19-20", false, set_after},
    {"retries", "how often it is begun again after failures of its own", false, set_retries},
    {"per", "gpu: a process for each GPU; node: one on each node", false, set_per},
    {"grace", "from the request to stop to the kill; 30s if left out", false,
     set_duration<&JobRequest::grace>},
    {"node-timeout", "how long it stays with a silent node: 1m, 12h or never", false,
     set_node_timeout},
    {"dir", "where it runs; where this is called if left out", false,
     set_word<&JobRequest::directory>},
    {"output", "the file its output goes to, such as out/%x-%j.%r; kept by the agent if left out",
     false, set_word<&JobRequest::output>},
    {"error", "the file its standard error goes to; together with its output if left out", false,
     set_word<&JobRequest::errors>},
    {"export", "variables it gets: ALL, NONE, or NAME and NAME=VALUE with commas between", false,
     set_export},
    {"time-limit", "how long it may run, over all its runs; then it fails", false, set_time_limit},
    {"private-tmp", "it gets a /tmp and a /var/tmp of its own", true,
     set_flag<&JobRequest::private_tmp>},
    {"signal", "a signal ahead of the time limit, such as USR1@60s", false, set_signal},
    {"checkpoint-dir", "where it keeps checkpoints; the agent's if left out", false,
     set_word<&JobRequest::checkpoint_directory>},
});

bool is_passed_on(std::string_view name) {
  constexpr auto kAlways = std::to_array<std::string_view>({"PATH", "HOME", "USER", "LANG"});
  return name.starts_with("LC_") || std::ranges::find(kAlways, name) != kAlways.end();
}

// Each is NAME=VALUE, or NAME: as the caller has it.
Status add_variables(const char* option, const std::vector<std::string>& variables,
                     const Variables& caller, Variables& job) {
  for (const std::string& variable : variables) {
    const std::size_t equals = variable.find('=');
    const std::string name = variable.substr(0, equals);
    if (name.empty()) {
      return invalid(fmt::format("{}: '{}': write NAME=VALUE or NAME", option, variable));
    }
    if (equals != std::string::npos) {
      job[name] = variable.substr(equals + 1);
      continue;
    }
    const auto found = caller.find(name);
    if (found == caller.end()) {
      return invalid(
          fmt::format("{}: {} is not set here; set it, or write {}=VALUE", option, name, name));
    }
    job[name] = found->second;
  }
  return {};
}

Result<std::vector<std::pair<std::string, std::string>>> environment_of(const JobDraft& draft,
                                                                        const Variables& caller) {
  Variables job;
  for (const auto& [name, value] : caller) {
    if (draft.exported ? draft.exported->all : is_passed_on(name)) job[name] = value;
  }
  if (draft.exported) TRY(add_variables("export", draft.exported->variables, caller, job));
  TRY(add_variables("env", draft.variables, caller, job));
  return std::vector<std::pair<std::string, std::string>>(job.begin(), job.end());
}

void make_absolute(std::string& path, const std::string& directory) {
  if (!path.empty()) {
    path = (std::filesystem::path(directory) / path).lexically_normal().string();
  }
}

}  // namespace

std::span<const JobSetting> job_settings() { return kSettings; }

const JobSetting* find_setting(std::string_view name) {
  const auto found = std::ranges::find(kSettings, name, &JobSetting::name);
  return found == kSettings.end() ? nullptr : &*found;
}

Status set_all(JobDraft& draft, std::string_view pairs) {
  for (std::string_view rest = pairs; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view pair = rest.substr(0, comma);
    const std::size_t equals = pair.find('=');
    const std::string_view name = pair.substr(0, equals);
    const JobSetting* setting = find_setting(name);
    if (setting == nullptr) {
      std::vector<std::string_view> names;
      for (const JobSetting& known : kSettings) names.push_back(known.name);
      return invalid(fmt::format("there is no '{}'; did you mean '{}'?", name.substr(0, 60),
                                 nearest_word(name.substr(0, 60), names)));
    }
    if (equals == std::string_view::npos) {
      return invalid(fmt::format("{}: write {}=VALUE", name, name));
    }
    if (Status set = setting->set(draft, pair.substr(equals + 1)); !set.ok()) {
      return std::move(set).error().at(name);
    }
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return {};
}

Result<JobRequest> finish(JobDraft draft, const Calling& calling) {
  JobRequest& request = draft.request;
  if (request.deadline_is_soft && !request.deadline) {
    return invalid("soft: there is no deadline that could be");
  }
  if (request.gpus_max > 0 && !draft.gpus_said) request.gpus = request.gpus_min;
  if (request.directory.empty()) request.directory = calling.directory;
  make_absolute(request.directory, calling.directory);
  make_absolute(request.output, calling.directory);
  make_absolute(request.errors, calling.directory);
  make_absolute(request.checkpoint_directory, calling.directory);
  if (!calling.needs_program && request.argv.empty()) request.argv = {"job"};
  TRY_ASSIGN(request.environment, environment_of(draft, calling.environment));
  TRY(check(request));
  return std::move(request);
}

}  // namespace orrery
