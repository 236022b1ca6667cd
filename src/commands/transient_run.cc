#include "commands/transient_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/own_program.h"
#include "cloud/local_servers/local_servers.h"
#include "cloud/transient_run/followed_file.h"
#include "cloud/transient_run/transient_run.h"
#include "commands/number_checks.h"
#include "model/duration_text.h"
#include "report/terminal/interrupt.h"
#include "report/terminal/standard_output.h"
#include "report/terminal/words.h"
#include "training/emulation/own_quota.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr auto kLook = std::chrono::milliseconds(50);
constexpr auto kReport = std::chrono::seconds(5);
constexpr auto kStopPatience = std::chrono::seconds(15);

template <class To, class From>
void take(To& to, const From& from) {
  if constexpr (requires { from.empty(); }) {
    if (!from.empty()) to = from;
  } else {
    if (from) to = static_cast<To>(*from);
  }
}

Status take_on_demand(const std::vector<std::string>& roles, TransientSpec& spec) {
  for (const std::string& role : roles) {
    if (role == "chief") {
      spec.chief.preemptible = false;
    } else if (role == "workers") {
      spec.workers.preemptible = false;
    } else if (role == "all") {
      spec.chief.preemptible = spec.workers.preemptible = false;
      spec.parameter_servers.preemptible = spec.evaluator.preemptible = false;
    } else {
      return invalid(fmt::format("--on-demand {}: write chief, workers or all", role));
    }
  }
  return {};
}

Result<TransientSpec> spec_of(const TransientRunArguments& a) {
  TransientSpec spec;
  if (!a.file.empty()) {
    TRY_ASSIGN(spec, read_transient_spec(a.file));
    // Its files stand beside it.
    if (!spec.prices.empty() && fs::path(spec.prices).is_relative()) {
      spec.prices = (fs::path(a.file).parent_path() / spec.prices).string();
    }
  }
  take(spec.name, a.name);
  take(spec.prices, a.prices);
  take(spec.replacement, a.replacement);
  take(spec.workers.count, a.workers);
  take(spec.parameter_servers.count, a.parameter_servers);
  if (!a.gpus.empty()) TRY(assign_gpus(a.gpus, spec));
  if (!a.zones.empty()) TRY(assign_zones(a.zones, spec));
  if (!a.evaluator_zone.empty()) spec.evaluator.zones = {a.evaluator_zone};
  if (spec.evaluator.zones.empty() && !spec.parameter_servers.zones.empty()) {
    spec.evaluator.zones = {spec.parameter_servers.zones.front()};
  }
  TRY(take_on_demand(a.on_demand, spec));
  TrainingSpec& training = spec.training;
  take(training.model, a.training.model);
  take(training.data, a.training.data);
  take(training.mode, a.training.mode);
  take(training.rate_rule, a.training.rate_rule);
  take(training.time_limit, a.training.time_limit);
  take(training.batch, a.training.batch);
  take(training.steps, a.training.steps);
  take(training.seed, a.training.seed);
  take(training.slots, a.training.slots);
  take(training.rate, a.training.rate);
  take(training.target, a.training.target);
  take(spec.local.compression, a.compression);
  take(spec.local.lifetimes, a.lifetimes);
  take(spec.local.revocations, a.revocations);
  take(spec.local.cores, a.cores);
  if (!rate_rule_of(training.rate_rule)) {
    return invalid(fmt::format("--rate-rule {}: write inverse-root, linear, none or naive",
                               training.rate_rule));
  }
  if (!replacement_rule_of(spec.replacement)) {
    return invalid(
        fmt::format("--replacement {}: write go-on, same, cheapest, cheapest-spot, "
                    "on-demand or fall-back",
                    spec.replacement));
  }
  if (spec.prices.empty()) {
    return invalid("no prices: add --prices FILE, such as data/prices/gce-2019-02.toml");
  }
  return spec;
}

Result<std::string> trainer_of(const TransientRunArguments& a) {
  const std::string path = a.trainer.empty() ? own_program("orrery-train") : a.trainer;
  if (access(path.c_str(), X_OK) == 0) return fs::absolute(path).string();
  return Error{
      Code::NotFound,
      fmt::format("{}: no such program; build or install orrery-train, or name it by --trainer",
                  path)};
}

Status make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? Status(system_error(path, error.value())) : Status();
}

// What a process of the trainer needs of the caller's environment.
std::vector<std::string> passed_on() {
  std::vector<std::string> environment;
  for (const char* const name : {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS"}) {
    if (const char* const value = std::getenv(name)) {
      environment.push_back(fmt::format("{}={}", name, value));
    }
  }
  return environment;
}

void report(const TransientRun& run) {
  const RunStanding& now = run.standing();
  const std::string accuracy = now.accuracy ? fmt::format(", accuracy {:.3f}", *now.accuracy) : "";
  complain(fmt::format("{} steps{}, {} workers under {} (epoch {}), {} servers, {} revoked",
                       now.gradients, accuracy, now.workers, now.chief, now.epoch,
                       run.live_servers(), run.revocations()));
}

// A person takes servers away: the file has a name on each line.
void revoke_named(FollowedFile& names, LocalServers& servers) {
  for (const std::string& name : names.new_lines()) {
    const Status revoked = servers.revoke(name);
    if (!revoked.ok()) complain(fmt::format("revoke: {}", revoked.error().message));
  }
}

Status follow(TransientRun& run, LocalServers& servers, FollowedFile names, bool quiet) {
  catch_interrupts();
  auto next_report = Clock::now() + kReport;
  std::optional<Clock::time_point> stopped;
  for (;;) {
    revoke_named(names, servers);
    TRY_ASSIGN(const bool over, run.step());
    if (over) return {};
    if (interrupted() && !stopped) {
      stopped = Clock::now();
      TRY(run.ask_to_stop());
    }
    if (stopped && Clock::now() - *stopped > kStopPatience) return {};
    if (!quiet && Clock::now() >= next_report) {
      report(run);
      next_report = Clock::now() + kReport;
    }
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

Status transient_run_command(const TransientRunArguments& a) {
  TransientPlan plan;
  TRY_ASSIGN(plan.spec, spec_of(a));
  TRY_ASSIGN(plan.prices, read_prices(plan.spec.prices));
  TRY_ASSIGN(plan.places, server_places(plan.spec, plan.prices));
  TRY_ASSIGN(plan.lifetimes, expected_lifetimes(plan.spec.local));
  TRY_ASSIGN(plan.cores, worker_cores(plan.spec.local));
  TRY_ASSIGN(plan.trainer, trainer_of(a));
  plan.compression = plan.spec.local.compression;
  TRY_ASSIGN(const Duration least, parse_duration(plan.spec.local.startup_least));
  TRY_ASSIGN(const Duration most, parse_duration(plan.spec.local.startup_most));
  plan.startup = (least + most) / 2;
  if (a.folder.empty()) return invalid("no folder: add --dir, a new one for the run");
  const std::string top = fs::absolute(a.folder).string();
  plan.folder = top + "/run";
  const auto clock = faster_clock(plan.compression);
  TRY_ASSIGN(ServerWorld world, local_world(plan.spec.local, plan.prices, clock()));
  // Nothing is made for a run whose ledger is another one's.
  if (a.ledger.empty()) TRY(make_folder(top));
  TRY_ASSIGN(CostLedger ledger, CostLedger::open(a.ledger.empty() ? top + "/ledger.db" : a.ledger));
  TRY(make_folder(top + "/servers"));
  TRY_ASSIGN(const auto provider, LocalServers::open({.folder = top + "/servers",
                                                      .world = std::move(world),
                                                      .clock = clock,
                                                      .environment = passed_on()}));
  TransientRun run(plan, *provider, ledger);
  TRY(run.begin());
  const Status followed = follow(run, *provider, FollowedFile(top + "/revoke"), a.quiet);
  TRY_ASSIGN(const TransientSummary summary, run.end());
  if (!plan.cores.empty()) remove_left_quotas();
  TRY(Status(followed));
  TRY(print_text(a.json ? transient_summary_json(summary) : transient_summary_text(summary)));
  if (!summary.failure.empty()) return Error{Code::Aborted, summary.failure};
  return {};
}

namespace {

void add_training(CLI::App& command, TransientTrainingArguments& a) {
  command.add_option("--model", a.model, "of orrery-train");
  command.add_option("--data", a.data, "of orrery-train");
  command.add_option("--mode", a.mode, "of orrery-train; asgd if left out");
  command.add_option("--batch", a.batch, "samples of all workers together")
      ->check(CLI::Range(1, 1 << 22));
  command.add_option("--rate", a.rate, "learning rate of one worker")->check(number_above_0());
  command.add_option("--rate-rule", a.rate_rule,
                     "how it follows the workers: inverse-root, linear, none, naive");
  command.add_option("--slots", a.slots, "workers that --rate-rule naive counts, there or not")
      ->check(CLI::Range(1, 100'000));
  command.add_option("--steps", a.steps, "gradients after which the run ends")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  command.add_option("--target", a.target, "accuracy at which it ends")
      ->check(number_between(0, 1));
  command.add_option("--time-limit", a.time_limit, "time of training after which it ends");
  command.add_option("--seed", a.seed, "of the training")->check(count());
}

}  // namespace

void add_transient_run(CLI::App& group, std::function<Status()>& run) {
  const auto kept = std::make_shared<TransientRunArguments>();
  TransientRunArguments& a = *kept;
  CLI::App* command = group.add_subcommand(
      "run", "train on servers of this machine that come and go, in spite of their loss");
  command->add_option("file", a.file, "F.toml (docs/formats/transient.md); options go before it");
  command->add_option("--dir", a.folder, "a new folder for the run, the servers and the ledger");
  command->add_option("--ledger", a.ledger, "F.db for servers, events and costs; DIR/ledger.db");
  command->add_option("--trainer", a.trainer, "orrery-train; the one beside this program");
  command->add_option("--name", a.name, "of the job, and the first part of its servers' names");
  command->add_option("--prices", a.prices, "offers and prices of a day, F.toml");
  command->add_option("--workers", a.workers, "beside the chief")->check(CLI::Range(0, 256));
  command->add_option("--servers", a.parameter_servers, "parameter servers")
      ->check(CLI::Range(1, 256));
  command->add_option("--gpu", a.gpus, "of the chief and each worker, or one for all")
      ->delimiter(',');
  command
      ->add_option("--zone", a.zones,
                   "of the chief, each worker, each parameter server, in this order; or one for "
                   "all")
      ->delimiter(',');
  command->add_option("--evaluator-zone", a.evaluator_zone, "of the evaluator");
  command->add_option("--on-demand", a.on_demand, "chief, workers or all: not preemptible")
      ->delimiter(',');
  add_training(*command, a.training);
  command->add_option("--compression", a.compression, "seconds of the provider in a second")
      ->check(number_above_0());
  command->add_option("--lifetime", a.lifetimes,
                      "GPU=weibull:0.6,102.9: how long spot servers live (repeatable)");
  command->add_option("--cores", a.cores,
                      "GPU=0.1: CPU quota of its workers while they train; * for any other GPU "
                      "(repeatable)");
  command->add_option("--revoke", a.revocations,
                      "SERVER@TIME of the provider: a revocation (repeatable)");
  command->add_option("--replacement", a.replacement,
                      "go-on, same, cheapest, cheapest-spot, on-demand or fall-back");
  command->add_flag("--json", a.json, "print one JSON object instead of text");
  command->add_flag("--quiet", a.quiet, "no progress");
  command->callback([kept, &run] { run = [kept] { return transient_run_command(*kept); }; });
}

}  // namespace orrery
