#include "commands/transient.h"

#include <CLI/CLI.hpp>

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

}  // namespace

void add_transient(CLI::App& app, TransientArguments& arguments, std::function<Status()>& run) {
  CLI::App* group =
      app.add_subcommand("transient", "training on servers that may be revoked, and their cost");
  group->require_subcommand(1);
  add_analyse(*group, arguments.analyse, run);
}

}  // namespace orrery
