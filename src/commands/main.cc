#include "commands/main.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/command_pages/describe_command.h"
#include "commands/commands.h"
#include "commands/live_commands.h"
#include "commands/number_checks.h"
#include "commands/parse_words.h"
#include "commands/stragglers.h"
#include "commands/sweep.h"
#include "commands/transient.h"
#include "commands/twin_commands.h"
#include "report/listing/list_options.h"
#include "report/terminal/standard_output.h"
#include "report/terminal/words.h"

namespace orrery {
namespace {

using Run = std::function<Status()>;

// The arguments of a command live as long as its callback, which keeps them.

void add_live(CLI::App& command, LiveArguments& live) {
  command.add_option("--state", live.state, "instead of a trace: a running scheduler's directory");
  command.add_option("--server", live.server, "instead of a trace: HOST:PORT of a scheduler");
  command.add_option("--credentials", live.credentials, "folder with the certificate for --server");
  command.add_option("--context", live.context, "the same by a name of `orrery context`");
}

// How a trace is read.
void add_reading(CLI::App& command, std::string& format, std::string& profiles,
                 std::string& gpu_type) {
  command.add_option("--trace-format", format, "one of `orrery traces`")->capture_default_str();
  command.add_option("--profiles", profiles, "speed and sensitivity profiles, a file or a folder");
  command.add_option("--gpu-type", gpu_type, "the GPU type that the profiles are read for");
}

// Nodes that come and go.
void add_scenario(CLI::App& command, ScenarioTexts& texts) {
  command.add_option("--faults", texts.faults,
                     "when nodes are down: the published fault events, or CSV node,down_s,up_s");
  command
      .add_option("--fault-servers", texts.fault_servers,
                  "servers of the cluster that --faults is about, those without a fault included")
      ->check(count());
  command
      .add_option("--spot", texts.spot,
                  "availability of spot capacity over time, a file a zone; nodes come and go by it")
      ->delimiter(',');
  command
      .add_option("--on-demand", texts.on_demand_nodes,
                  "with --spot: the first N nodes are on-demand and stay")
      ->check(count());
  command.add_option("--notice", texts.notice,
                     "nodes are warned this long before they are lost, such as 30s or 2m");
  command.add_option("--checkpoint-interval", texts.checkpoint_interval,
                     "how long a job trains between two saves, such as 30m; none: a lost node "
                     "costs all work since the last start, move or resize (default: none)");
  command.add_option("--checkpoint-cost", texts.checkpoint_cost,
                     "how long a save takes, where the trace does not say (default: 0s)");
  command.add_option("--lasting", texts.lasting,
                     "with placement=survival: only jobs this long or longer count as long "
                     "(default: 0s, all)");
  command.add_option("--price", texts.prices,
                     "of a GPU for an hour (default: on-demand=1,spot=0.3333)");
}

CLI::App* add_simulate(CLI::App& app, const char* name, const char* line, SimulateArguments& a) {
  CLI::App* command = app.add_subcommand(name, line);
  command
      ->add_option("--trace", a.traces,
                   "trace file, - for standard input, or MODEL:key=value,... (repeatable)")
      ->required()
      ->take_all();
  command
      ->add_option("--cluster", a.clusters,
                   "cluster file, or NODESxGPUS such as 16x8; repeated: one for each trace")
      ->required()
      ->take_all();
  command->add_option("--policy", a.policies, "policies, as NAME or NAME:key=value:...")
      ->required()
      ->delimiter(',');
  add_reading(*command, a.trace_format, a.profiles, a.gpu_type);
  command->add_option("--semantics", a.semantics, "orrery, muri, elasticflow or synergy")
      ->capture_default_str();
  command->add_option("--option", a.options, "key=value for the policies (repeatable)");
  command
      ->add_option("--speed-error", a.speed_error,
                   "real speeds differ from the profiles by at most this part, such as 0.1")
      ->check(number_between(0, 0.9));
  command->add_option("--round", a.round, "hold rounds only at multiples of this, such as 60s");
  command->add_option("--seed", a.seeds, "seeds of policies that draw")
      ->delimiter(',')
      ->check(count());
  add_scenario(*command, a.scenario);
  command->add_option("--limit", a.limit, "only the first N jobs")->check(count());
  command->add_option("--window", a.window,
                      "A-B: metrics over jobs A <= id < B only; the run ends with them");
  command->add_option("--events", a.events, "write the event log to F.jsonl or F.jsonl.zst");
  command->add_option("--report", a.report, "write the report page to F.html");
  command->add_option("--jobs-csv", a.jobs_csv, "write what became of each job to F.csv");
  command->add_option("--threads", a.threads, "runs at a time; 0: one a core, but one for star")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", a.json, "print one JSON object instead of the table");
  command->add_flag("--csv", a.csv, "print CSV instead of the table");
  command->add_flag("--quiet", a.quiet, "no progress and no warnings");
  return command;
}

void add_simulate(CLI::App& app, const char* name, const char* line, Run& run) {
  const auto a = std::make_shared<SimulateArguments>();
  add_simulate(app, name, line, *a)->callback([a, &run] {
    run = [a] { return simulate_command(*a); };
  });
}

void add_sweep(CLI::App& app, Run& run) {
  const auto kept = std::make_shared<SweepArguments>();
  SweepArguments& a = *kept;
  CLI::App* command =
      app.add_subcommand("sweep", "many runs over axes, from a file or options, with intervals");
  command->add_option("file", a.file, "sweep file, F.toml; without it the options say what is run");
  command->add_option("--out", a.out, "folder for runs.csv, jobs.csv and summary.csv");
  command->add_flag("--resume", a.resume, "go on with a sweep that was stopped");
  command->add_option("--report", a.run.report, "write the report page to F.html");
  command->add_option("--threads", a.run.threads, "runs at a time; 0: one a core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--quiet", a.run.quiet, "no progress and no warnings");
  command->add_option("--trace", a.run.traces, "trace file, or MODEL:key=value,... (repeatable)")
      ->take_all();
  command
      ->add_option("--cluster", a.run.clusters,
                   "cluster file, or NODESxGPUS such as 16x8; repeated: one for each trace")
      ->take_all();
  command->add_option("--policy", a.run.policies, "policies, as NAME or NAME:key=value:...")
      ->delimiter(',');
  command->add_option("--axis", a.axes,
                      "NAME=VALUE,VALUE,... (repeatable): a setting, a generator's parameter, or "
                      "option.KEY of policies");
  command->add_option("--seed", a.seeds, "of generators and runs: 1-25, or 1,2,3");
  command->add_option("--baseline", a.baseline,
                      "NAME=VALUE: compare with these runs (default: the first policy)");
  command->add_option("--option", a.run.options, "key=value for the policies (repeatable)");
  add_reading(*command, a.run.trace_format, a.run.profiles, a.run.gpu_type);
  command->add_option("--semantics", a.run.semantics, "orrery, muri, elasticflow or synergy")
      ->capture_default_str();
  command
      ->add_option("--speed-error", a.run.speed_error,
                   "real speeds differ from the profiles by at most this part, such as 0.1")
      ->check(number_between(0, 0.9));
  command->add_option("--round", a.run.round, "hold rounds only at multiples of this, such as 60s");
  command->add_option("--limit", a.run.limit, "only the first N jobs")->check(count());
  command->add_option("--window", a.run.window,
                      "A-B: metrics over jobs A <= id < B only; the run ends with them");
  command->callback([kept, &run] { run = [kept] { return sweep_command(*kept); }; });
}

void add_record(CLI::App& app, const LiveCommands& live, Run& run) {
  const auto kept = std::make_shared<RecordArguments>();
  RecordArguments& a = *kept;
  CLI::App* command = add_simulate(
      app, "record", "keep what happened, in one run or at a running scheduler", a.run);
  for (const char* option : {"--trace", "--cluster", "--policy"}) {
    command->get_option(option)->required(false);
  }
  add_live(*command, a.live);
  command->add_option("--out,-o", a.output, "file to write")->required();
  command->add_option("--format", a.format,
                      "events, orrery or synergy; by the name of the file if left out");
  command->callback(
      [kept, &live, &run] { run = [kept, &live] { return record_or_live(*kept, live); }; });
}

void add_replay(CLI::App& app, const LiveCommands& live, Run& run) {
  const auto kept = std::make_shared<ReplayArguments>();
  ReplayArguments& a = *kept;
  CLI::App* command = app.add_subcommand(
      "replay", "make a recorded run again: are its decisions the same, or what if ...");
  command->add_option("file", a.input, "an event log, or a recorded trace")->required();
  command->add_option("--policy", a.policies, "other policies to compare with, as NAME:key=value")
      ->delimiter(',');
  command->add_option("--option", a.options, "key=value for those policies (repeatable)");
  command->add_option("--cluster", a.cluster, "another cluster; for a trace: the cluster");
  command->add_option("--semantics", a.semantics, "for a trace: the world it runs in");
  command->add_option("--report", a.report, "write the report page to F.html");
  command->add_option("--threads", a.threads, "runs at a time; 0: one a core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", a.json, "print one JSON object instead of text");
  command->add_flag("--quiet", a.quiet, "no progress and no warnings");
  command->callback(
      [kept, &live, &run] { run = [kept, &live] { return replay_or_live(*kept, live); }; });
}

void add_generate(CLI::App& app, Run& run) {
  const auto kept = std::make_shared<GenerateArguments>();
  const auto pairs = std::make_shared<std::vector<std::string>>();
  GenerateArguments& a = *kept;
  CLI::App* command = app.add_subcommand("generate", "write a generated trace");
  command->add_option("model", a.model, "one of `orrery traces`")->required();
  for (const char* key : {"jobs", "seed", "gpus", "load", "lam", "min-ddl", "max-ddl",
                          "best-effort", "profiles", "gpu-type"}) {
    command->add_option_function<std::string>(
        std::string("--") + key, [&a, key](const std::string& text) { a.options[key] = text; },
        std::string("the same as --option ") + key + "=...");
  }
  command->add_option("--option", *pairs, "key=value for the model (repeatable)");
  command->add_option("--output,-o", a.output, "file to write; standard output if left out");
  command->add_option("--format", a.format,
                      "csv, jsonl, elasticflow or synergy; by the name of the file if left out");
  command->callback([kept, pairs, &run] {
    run = [kept, pairs]() -> Status {
      for (const std::string& pair : *pairs) {
        const auto equals = pair.find('=');
        if (equals == std::string::npos) {
          return invalid(fmt::format("--option {}: write key=value", pair));
        }
        kept->options[pair.substr(0, equals)] = pair.substr(equals + 1);
      }
      return generate_command(*kept);
    };
  });
}

void add_traces(CLI::App& app, Run& run) {
  const auto kept = std::make_shared<TracesArguments>();
  TracesArguments& a = *kept;
  CLI::App* command =
      app.add_subcommand("traces", "what a trace holds, or the trace formats and generators");
  command->add_option("trace", a.trace,
                      "trace file or folder, or MODEL:key=value,...; the lists if left out");
  add_reading(*command, a.trace_format, a.profiles, a.gpu_type);
  command->add_option("--limit", a.limit, "only the first N jobs")->check(count());
  add_list_options(*command, a.list);
  command->callback([kept, &run] { run = [kept] { return traces_command(*kept); }; });
}

void add_reproduce(CLI::App& app, Run& run) {
  const auto kept = std::make_shared<ReproduceArguments>();
  ReproduceArguments& a = *kept;
  CLI::App* command =
      app.add_subcommand("reproduce", "published tables: published | reference | ours");
  command->add_option("system", a.system, "muri, elasticflow, synergy, star or transient")
      ->required();
  command->add_option("--figure", a.figure, "one figure only, such as 9, 8a or static");
  command->add_option("--data", a.data,
                      "folder with the published traces, or with what is trained on");
  command->add_option("--out", a.out, "star: folder of results; what is there is not run again")
      ->capture_default_str();
  command->add_option("--only", a.only, "star: only runs whose name holds this text");
  command->add_option("--seeds", a.seeds, "star: runs of each kind")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  command->add_option("--trainer", a.trainer, "star: the program orrery-train");
  command->add_option("--reference", a.reference, "CSV with what runs of the released code gave");
  command->add_option("--semantics", a.semantics, "the released one, orrery; both if left out")
      ->delimiter(',');
  command->add_option("--report", a.report, "write the figures to F.html");
  command->add_option("--threads", a.threads, "runs at a time; 0: one a core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", a.json, "print one JSON object instead of tables");
  command->add_flag("--quiet", a.quiet, "no progress and no warnings");
  command->callback([kept, &run] { run = [kept] { return reproduce_command(*kept); }; });
}

void add_whatif(CLI::App& app, const LiveCommands& live, Run& run) {
  const auto kept = std::make_shared<WhatifArguments>();
  WhatifArguments& a = *kept;
  CLI::App* command = app.add_subcommand(
      "whatif", "one more job: would it be in time, and which jobs would be slowed");
  command->add_option("--trace", a.trace, "trace file, or MODEL:key=value,...");
  command->add_option("--cluster", a.cluster, "cluster file, or NODESxGPUS such as 16x8");
  command->add_option("--policy", a.policy, "a policy, as NAME or NAME:key=value:...");
  add_live(*command, a.live);
  command
      ->add_option("--nodes", a.nodes_more,
                   "of a running scheduler: with this number of nodes more")
      ->check(CLI::Range(0, 10'000));
  command->add_option(
      "--job", a.job,
      "the job: submit=10h,gpus=4,model=bert,batch=128,iterations=5000,deadline=2h");
  command->add_option("--job-file", a.job_file,
                      "the job as a trace of one, in any format; live: a job file");
  add_reading(*command, a.trace_format, a.profiles, a.gpu_type);
  command->add_option("--semantics", a.semantics, "orrery, muri, elasticflow or synergy")
      ->capture_default_str();
  command->add_option("--option", a.options, "key=value for the policy (repeatable)");
  command->add_option("--seed", a.seed, "seed of a policy that draws")->check(count());
  command->add_option("--round", a.round, "hold rounds only at multiples of this, such as 60s");
  command->add_option("--limit", a.limit, "only the first N jobs of the trace")->check(count());
  command->add_option("--threads", a.threads, "runs at a time; 0: one a core")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", a.json, "print one JSON object instead of text");
  command->add_flag("--quiet", a.quiet, "no progress and no warnings");
  command->callback(
      [kept, &live, &run] { run = [kept, &live] { return whatif_or_live(*kept, live); }; });
}

void add_twin_check(CLI::App& twin, Run& run) {
  const auto kept = std::make_shared<TwinCheckArguments>();
  TwinCheckArguments& c = *kept;
  CLI::App* command = twin.add_subcommand(
      "check", "compares the twin with real runs: each mode as predicted, and the error");
  command->add_option("runs", c.runs, "folders of orrery reproduce star, one for each run")
      ->required();
  command
      ->add_option(
          "--fit", c.fit,
          "fit to runs with one of these texts in their name; each to all others if left out")
      ->delimiter(',');
  command->add_option("--noise", c.noise, "measured times that differ by less are no order")
      ->check(number_between(0, 1))
      ->capture_default_str();
  command->add_flag("--json", c.json, "print one JSON object instead of the table");
  command->callback([kept, &run] { run = [kept] { return twin_check_command(*kept); }; });
}

void add_twin_fit(CLI::App& twin, Run& run) {
  const auto kept = std::make_shared<TwinFitArguments>();
  TwinFitArguments& f = *kept;
  CLI::App* command = twin.add_subcommand("fit", "how a model learns, from curves of real runs");
  command->add_option("curves", f.curves, "folders of orrery-train run --dir, or their curve.csv")
      ->required();
  command->add_option("--model", f.model, "F.json to start from");
  command->add_option("--output,-o", f.output, "F.json to write; standard output if left out");
  command->add_flag("--json", f.json, "print it, too");
  command->callback([kept, &run] { run = [kept] { return twin_fit_command(*kept); }; });
}

void add_twin(CLI::App& app, Run& run) {
  const auto kept = std::make_shared<TwinRunArguments>();
  TwinRunArguments& a = *kept;
  CLI::App* twin = app.add_subcommand(
      "twin", "training runs as events: synchronisation modes without the training");
  twin->require_subcommand(1);
  CLI::App* command = twin->add_subcommand("run", "runs in some modes, side by side");
  command
      ->add_option("--mode", a.modes,
                   "ssgd, asgd, static-X, dynamic, ring-N (with all-reduce), lgc, lb-bsp, "
                   "sync-switch, star")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--arch", a.architecture, "ps or allreduce")->capture_default_str();
  command->add_option("--model", a.model, "what a model takes and how it learns: F.json");
  command->add_option("--stragglers", a.stragglers, "straggler script");
  command->add_option("--workers", a.workers)->check(CLI::Range(1, 10'000))->capture_default_str();
  command->add_option("--batch", a.batch, "of one worker")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--rate", a.rate, "learning rate")->check(number_above_0());
  command->add_option("--target", a.target, "accuracy at which a run ends")
      ->check(number_between(0, 1));
  command->add_option("--steps", a.steps, "gradients after which it ends")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  command->add_option("--seed", a.seeds, "one or several")
      ->delimiter(',')
      ->check(count())
      ->capture_default_str();
  command->add_option("--curve", a.curve, "write accuracy over time to F.csv");
  command->add_flag("--json", a.json, "print one JSON object instead of the table");
  command->callback([kept, &run] { run = [kept] { return twin_run_command(*kept); }; });
  add_twin_fit(*twin, run);
  add_twin_check(*twin, run);
}

void add_stragglers(CLI::App& app, Run& run) {
  const auto kept = std::make_shared<StragglersArguments>();
  StragglersArguments& a = *kept;
  CLI::App* stragglers =
      app.add_subcommand("stragglers", "recorded training steps: which part slowed them down");
  stragglers->require_subcommand(1);
  CLI::App* command = stragglers->add_subcommand(
      "analyse", "what each worker, stage and operation costs, by replaying the steps without it");
  command->add_option("trace", a.trace, "recorded steps, F.csv or F.csv.zst")->required();
  command->add_option("--meta", a.meta,
                      "F.yaml with the shape of the job; what the trace shows if left out");
  command->add_option("--report", a.report, "write heat maps and a timeline to F.html");
  command->add_option("--perfetto", a.perfetto, "write a timeline for Perfetto to F.json");
  command->add_flag("--json", a.json, "print one JSON object instead of the table");
  command->callback([kept, &run] { run = [kept] { return stragglers_command(*kept); }; });
}

void add_demo(CLI::App& app, Run& run) {
  const auto kept = std::make_shared<DemoArguments>();
  CLI::App* command = app.add_subcommand("demo", "the main job, small: six policies on one trace");
  command->add_option("--report", kept->report, "the page to write")->capture_default_str();
  command->add_flag("--json", kept->json, "print one JSON object instead of the table");
  command->add_flag("--quiet", kept->quiet, "no progress and no warnings");
  command->callback([kept, &run] { run = [kept] { return demo_command(*kept); }; });
}

void add_policies(CLI::App& app, Run& run) {
  const auto kept = std::make_shared<ListArguments>();
  CLI::App* command = app.add_subcommand("policies", "the policies and their options");
  add_list_options(*command, *kept);
  command->callback([kept, &run] { run = [kept] { return policies_command(*kept); }; });
}

void add_help(CLI::App& app, Run& run) {
  const auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "this list, or the options of one command");
  command->add_option("command", *names, "the command, such as simulate or twin run");
  command->callback([&app, names, &run] {
    run = [&app, names]() -> Status {
      TRY_ASSIGN(const std::string text, help_text(app, *names));
      return print_text(text);
    };
  });
}

}  // namespace

void add_commands(CLI::App& app, Run& run, const Extension& extension,
                  const std::vector<std::string>& program) {
  app.description(
      "Orrery: a scheduler for deep-learning training whose simulator is the scheduler");
  app.name("orrery");
  app.set_version_flag("--version", extension.version);
  app.require_subcommand(1);
  add_demo(app, run);
  add_simulate(app, "simulate", "run policies over traces", run);
  add_simulate(app, "compare", "simulate, with ratios to the first policy", run);
  add_sweep(app, run);
  add_record(app, extension.live, run);
  add_replay(app, extension.live, run);
  add_policies(app, run);
  add_traces(app, run);
  add_generate(app, run);
  add_reproduce(app, run);
  add_whatif(app, extension.live, run);
  add_twin(app, run);
  add_transient(app, run);
  add_stragglers(app, run);
  if (extension.add_commands) extension.add_commands(app, run, program);
  add_help(app, run);
  add_describe(app, run);
}

int run(int argc, char** argv, const Extension& extension) {
  CLI::App app;
  Run run;
  std::vector<std::string> program;
  const auto words =
      split_program({argv, static_cast<std::size_t>(argc)}, extension.with_program, program);
  add_commands(app, run, extension, program);
  // A reader that has gone away is known by the error of a write.
  std::signal(SIGPIPE, SIG_IGN);
  if (const auto code = parse_words(app, words)) return *code;
  return exit_code(run());
}

}  // namespace orrery
