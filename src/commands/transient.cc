#include "commands/transient.h"

#include <CLI/CLI.hpp>

#include "commands/number_checks.h"

namespace orrery {
namespace {

void add_analyse(CLI::App& group, TransientAnalyseArguments& a, std::function<Status()>& run) {
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
  command->callback([&a, &run] { run = [&a] { return transient_analyse_command(a); }; });
}

void add_plan(CLI::App& group, TransientPlanArguments& a, std::function<Status()>& run) {
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
  command->add_flag("--json", a.json, "print one JSON object instead of the table");
  command->callback([&a, &run] { run = [&a] { return transient_plan_command(a); }; });
}

}  // namespace

void add_transient(CLI::App& app, TransientArguments& arguments, std::function<Status()>& run) {
  CLI::App* group =
      app.add_subcommand("transient", "training on servers that may be revoked, and their cost");
  group->require_subcommand(1);
  add_analyse(*group, arguments.analyse, run);
  add_plan(*group, arguments.plan, run);
}

}  // namespace orrery
