#include "commands/transient.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "commands/number_checks.h"
#include "report/listing/list_options.h"

namespace orrery {
namespace {

void add_analyse(CLI::App& group, std::function<Status()>& run) {
  const auto kept = std::make_shared<TransientAnalyseArguments>();
  TransientAnalyseArguments& a = *kept;
  CLI::App* command = group.add_subcommand(
      "analyse", "published measurements: every table and figure, and rows that do not agree");
  command
      ->add_option("folders", a.folders,
                   "folders of Transient-DL and CM-DARE, or one that holds transient/ and cm-dare/")
      ->required();
  command->add_option("--csv", a.csv,
                      "write table,config,metric,value,n,note to F instead of a summary");
  command->add_option("--report", a.report, "write the figures to F.html");
  command->add_option("--prices", a.prices, "a price file; the prices of 2019-02 if left out");
  add_list_options(*command, a.list);
  command->callback([kept, &run] { run = [kept] { return transient_analyse_command(*kept); }; });
}

void add_plan(CLI::App& group, std::function<Status()>& run) {
  const auto kept = std::make_shared<TransientPlanArguments>();
  TransientPlanArguments& a = *kept;
  CLI::App* command = group.add_subcommand(
      "plan", "when to use which machine: policies for a deadline over spot traces");
  command->add_option("--trace", a.traces, "spot traces, one file a zone (F[,F...])")
      ->required()
      ->delimiter(',');
  command
      ->add_option("--policy", a.policies,
                   "on-demand, greedy, uniform-progress, skynomad, ross, orrery-spot; all if left "
                   "out")
      ->delimiter(',');
  command->add_option("--work", a.work, "time on one machine that works, such as 48h")->required();
  command->add_option("--deadline", a.deadlines, "from the start, such as 60h; one or several")
      ->required()
      ->delimiter(',');
  command
      ->add_option("--changeover", a.changeovers,
                   "from the start of a machine until it works, such as 6m; one or several")
      ->required()
      ->delimiter(',');
  CLI::Option* start = command->add_option("--start", a.starts, "the first tick; one or several")
                           ->delimiter(',')
                           ->check(count())
                           ->capture_default_str();
  command->add_option("--starts", a.starts_spread, "this number of starts, evenly over the traces")
      ->check(CLI::Range(1, 1'000'000))
      ->excludes(start);
  command
      ->add_option("--machines", a.machines, "a zone has capacity where it has this many machines")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--on-demand-price", a.on_demand_price, "of an hour")
      ->check(number_above_0())
      ->capture_default_str();
  command->add_option("--spot-price", a.spot_price, "of an hour; a third if left out")
      ->check(number_above_0());
  command->add_option("--seed", a.seed, "of policies that draw")
      ->check(count())
      ->capture_default_str();
  add_list_options(*command, a.list);
  command->callback([kept, &run] { run = [kept] { return transient_plan_command(*kept); }; });
}

void add_ledger(CLI::App& group, std::function<Status()>& run) {
  const auto kept = std::make_shared<TransientLedgerArguments>();
  TransientLedgerArguments& a = *kept;
  CLI::App* command =
      group.add_subcommand("ledger", "jobs on transient servers: their servers and costs");
  command->add_option("file", a.file, "the ledger")->required();
  command->add_option("--job", a.job, "this job only");
  command->add_flag("--servers", a.servers, "a row for each server instead of each job");
  command->add_option("--import", a.import, "first add the servers of a published database");
  command->add_option("--gpu", a.gpu, "with --import: the GPU of its servers");
  command->add_option("--class", a.offer_class, "with --import: on-demand, spot or flex")
      ->capture_default_str();
  command->add_option("--prices", a.prices, "with --import: a price file; no costs if left out");
  add_list_options(*command, a.list);
  command->add_flag("--csv", a.csv, "the same as --output csv");
  command->callback([kept, &run] { run = [kept] { return transient_ledger_command(*kept); }; });
}

void add_cluster(CLI::App& command, TransientClusterArguments& a) {
  command.add_option("--workers", a.workers, "workers, the chief among them")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--gpu", a.gpus, "GPU of each worker, the chief first; or one for all")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--zone", a.zones, "zone of each worker, the chief first; or one for all")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--servers", a.servers, "on-demand parameter servers")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command.add_option("--server-zone", a.server_zone, "their zone; that of the chief if left out");
  command.add_option("--prices", a.prices, "a price file; the prices of 2019-02 if left out");
  command.add_option("--speed", a.speeds, "GPU=STEPS a second of a worker alone (repeatable)");
  command.add_option("--lifetimes", a.lifetimes,
                     "lifetime.csv of the published data; its published fits if left out");
}

void add_simulate(CLI::App& group, std::function<Status()>& run) {
  const auto kept = std::make_shared<TransientSimulateArguments>();
  TransientSimulateArguments& a = *kept;
  CLI::App* command = group.add_subcommand(
      "simulate", "a training on servers that are revoked: policies compared over many seeds");
  add_cluster(*command, a.cluster);
  command->add_option("--steps", a.steps, "steps of all workers together")
      ->check(number_above_0())
      ->capture_default_str();
  command
      ->add_option("--policy", a.policies,
                   "all-on-demand, go-on, same, cheapest, cheapest-spot, on-demand, fall-back; "
                   "all if left out")
      ->delimiter(',');
  command->add_option("--runs", a.runs, "runs of each policy, with as many seeds")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--seed", a.seed, "the first seed")->check(count())->capture_default_str();
  command->add_option("--chief", a.chief, "loss of the chief: take-over, restart or stop")
      ->capture_default_str();
  command->add_option("--save", a.save, "time of a checkpoint; 0 for none")->capture_default_str();
  command->add_option("--checkpoint", a.checkpoint, "time between checkpoints, or auto: by hazard")
      ->capture_default_str();
  command->add_option("--startup", a.startup, "mean time from a request until a server runs")
      ->capture_default_str();
  command->add_option("--join", a.join, "from then until its first step")->capture_default_str();
  command->add_option("--shocks", a.shocks_per_day, "shocks of each zone in a day")
      ->check(number_between(0, 1440))
      ->capture_default_str();
  command->add_option("--shock-share", a.shock_share, "share of its spot servers that one revokes")
      ->check(number_between(0, 1))
      ->capture_default_str();
  command->add_option("--time-value", a.time_value, "USD that an hour of training time is worth")
      ->check(number_between(0, 1e9))
      ->capture_default_str();
  command->add_option("--report", a.report, "write the figures to F.html");
  command->add_flag("--json", a.json, "print one JSON object instead of the table");
  command->callback([kept, &run] { run = [kept] { return transient_simulate_command(*kept); }; });
}

}  // namespace

void add_transient(CLI::App& app, std::function<Status()>& run) {
  CLI::App* group =
      app.add_subcommand("transient", "training on servers that may be revoked, and their cost");
  group->require_subcommand(1);
  add_analyse(*group, run);
  add_plan(*group, run);
  add_ledger(*group, run);
  add_simulate(*group, run);
  add_transient_run(*group, run);
}

}  // namespace orrery
