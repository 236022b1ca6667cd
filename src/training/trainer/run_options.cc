#include "training/trainer/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "model/duration_text.h"

namespace orrery {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LearnerOptions, model, data, data_folder, seed, device, threads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OptimizerOptions, kind, momentum, weight_decay)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunOptions, arch, workers, workers_most, shards, mode, x,
                                   predictor, learner, batch, blocks, rate, rate_scaling, warm_up,
                                   rate_steps, optimizer, target, steps, time_limit, evaluate_every,
                                   checkpoint_every, keep, replace, stragglers, straggler_seed,
                                   cores, link, shard_cores, shard_link, servers, cpu_means,
                                   link_means, ring_patience_s, listen)

RunOptions completed(RunOptions options) {
  std::error_code error;
  const auto beside = std::filesystem::current_path(error) / "build/data";
  if (options.learner.data_folder.empty() && !error &&
      std::filesystem::is_directory(beside, error)) {
    options.learner.data_folder = beside.string();
  }
  return options;
}

namespace {

Status check_members(const RunOptions& options) {
  if (options.members && (options.arch != "ps" || emulates_servers(options))) {
    return invalid(
        "--members: such a run has --arch ps, and no emulated servers (--cores, --link, "
        "--stragglers)");
  }
  if (options.members && options.epoch == 0 && options.folder.empty()) {
    return invalid("--members: add --dir, the folder that all members share");
  }
  if (options.members && !options.trace_steps.empty()) {
    return invalid("--trace-steps: a run with --members has several heads, and no such file");
  }
  if (options.epoch > 0 && (!options.members || options.resume.empty())) {
    return invalid("--epoch: only a run that was prepared by --members is led by a lease");
  }
  return {};
}

}  // namespace

Status check(const RunOptions& options) {
  const auto positive = [](const char* flag, double value) -> Status {
    if (value > 0 && std::isfinite(value)) return {};
    return invalid(fmt::format("{} {}: more than 0 is needed", flag, value));
  };
  if (options.arch != "ps" && options.arch != "allreduce") {
    return invalid(fmt::format("--arch {}: write ps or allreduce", options.arch));
  }
  if (options.selector != "learned" && options.selector != "heuristic") {
    return invalid(fmt::format("--selector {}: write learned or heuristic", options.selector));
  }
  if (options.tree != "auto" && options.tree != "never") {
    return invalid(fmt::format("--tree {}: write auto or never", options.tree));
  }
  if (!options.experience.empty() && (options.mode != "star" || options.selector != "learned")) {
    return invalid("--experience: only --mode star with --selector learned learns from runs");
  }
  if (options.mode == "zeno++" && options.optimizer.kind == "adam") {
    return invalid(
        "--mode zeno++ with --optimizer adam: Zeno++ judges each gradient by the step that sgd "
        "takes with it; write --optimizer sgd");
  }
  TRY(positive("--workers", options.workers));
  TRY(positive("--shards", options.shards));
  TRY(positive("--rate", options.rate));
  TRY(positive("--keep", options.keep));
  TRY(positive("--target-over", options.target_over));
  TRY(positive("--patience", options.ring_patience_s));
  TRY(positive("--silence", options.silence_s));
  if (options.workers > 4096 || options.shards > 256 || options.workers_most > 4096) {
    return invalid("at most 4096 workers and 256 shards");
  }
  if (options.batch < options.workers) {
    return invalid(fmt::format("--batch {}: every one of {} workers needs a sample", options.batch,
                               options.workers));
  }
  if (options.target < 0 || options.target > 1) {
    return invalid(fmt::format("--target {}: an accuracy from 0 to 1", options.target));
  }
  if (options.steps < 0 || options.evaluate_every < 0 || options.checkpoint_every < 0 ||
      options.warm_up < 0 || options.blocks < 0 || options.cores < 0 || options.link < 0 ||
      options.shard_cores < 0 || options.shard_link < 0) {
    return invalid(
        "--steps, --evaluate-every, --checkpoint-every, --warm-up, --blocks, --cores, --link, "
        "--shard-cores and --shard-link are 0 or more");
  }
  if (options.spoiled_most < 0) {
    return invalid(fmt::format("--spoiled-most {}: 0 or more", options.spoiled_most));
  }
  if (options.from != "last" && options.from != "best") {
    return invalid(fmt::format("--from {}: write last or best", options.from));
  }
  if (options.from == "best" && options.resume.empty()) {
    return invalid("--from best: only a run that is resumed (--resume) has a best model");
  }
  if (!options.servers.empty() && !(options.cores > 0)) {
    return invalid("--servers: say by --cores what each worker would like to have of them");
  }
  TRY(check_members(options));
  TRY_ASSIGN(const double limit, time_limit_s(options));
  if (options.target == 0 && options.steps == 0 && limit == 0) {
    return invalid("nothing says when to end: add --target, --steps or --time-limit");
  }
  TRY_ASSIGN(const RateRule rule, rate_rule(options));
  static_cast<void>(rule);
  return check(options.optimizer);
}

Architecture architecture(const RunOptions& options) {
  return options.arch == "allreduce" ? Architecture::AllReduce : Architecture::ParameterServers;
}

bool emulates_servers(const RunOptions& options) {
  return !options.stragglers.empty() || options.cores > 0 || options.link > 0;
}

std::int64_t samples_limit(const RunOptions& options) {
  return options.steps * options.batch / options.workers;
}

int workers_for(const RunOptions& options, int gpus_now) {
  if (options.gpus <= 0 || gpus_now <= 0) return options.workers;
  const double wanted = static_cast<double>(options.workers) * gpus_now / options.gpus;
  return static_cast<int>(std::clamp(std::round(wanted), 1.0, static_cast<double>(options.batch)));
}

Result<RateRule> rate_rule(const RunOptions& options) {
  RateRule rule{
      .base = options.rate, .warm_up_samples = options.warm_up, .workers = options.workers};
  TRY_ASSIGN(rule.scaling, parse_rate_scaling(options.rate_scaling));
  for (const std::string& text : options.rate_steps) {
    RateRule::Step step;
    const char* const end = text.data() + text.size();
    const auto samples = std::from_chars(text.data(), end, step.after_samples);
    const bool has_colon = samples.ec == std::errc() && samples.ptr != end && *samples.ptr == ':';
    const auto factor = has_colon ? std::from_chars(samples.ptr + 1, end, step.factor)
                                  : std::from_chars_result{end, std::errc::invalid_argument};
    if (factor.ec != std::errc() || factor.ptr != end || step.after_samples < 0 ||
        !(step.factor > 0) || !std::isfinite(step.factor)) {
      return invalid(fmt::format("--rate-step {}: write SAMPLES:FACTOR, such as 100000:0.1", text));
    }
    rule.steps.push_back(step);
  }
  return rule;
}

Result<double> time_limit_s(const RunOptions& options) {
  if (options.time_limit.empty()) return 0.0;
  const auto limit = parse_duration(options.time_limit);
  if (!limit.ok() || !(seconds(limit.value()) > 0)) {
    return invalid(fmt::format("--time-limit {}: write 90, 90s, 15m or 2h", options.time_limit));
  }
  return seconds(limit.value());
}

std::string run_options_text(const RunOptions& options) {
  json values(options);
  values["gpus"] = options.gpus;
  values["target_over"] = options.target_over;
  values["selector"] = options.selector;
  values["tree"] = options.tree;
  values["spoiled_most"] = options.spoiled_most;
  values["experience"] = options.experience;
  values["silence_s"] = options.silence_s;
  values["anyway"] = options.anyway;
  values["members"] = options.members;
  return values.dump(1) + "\n";
}

Result<RunOptions> parse_run_options(const std::string& text) {
  try {
    const json values = json::parse(text);
    auto options = values.get<RunOptions>();
    // Runs of earlier versions have not noted these.
    options.gpus = values.value("gpus", options.gpus);
    options.target_over = values.value("target_over", options.target_over);
    options.selector = values.value("selector", options.selector);
    options.tree = values.value("tree", options.tree);
    options.spoiled_most = values.value("spoiled_most", options.spoiled_most);
    options.experience = values.value("experience", options.experience);
    options.silence_s = values.value("silence_s", options.silence_s);
    options.anyway = values.value("anyway", options.anyway);
    options.members = values.value("members", options.members);
    return options;
  } catch (const json::exception& problem) {
    return invalid(problem.what());
  }
}

}  // namespace orrery
