#include "training/trainer/train_main.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

#include "base/command_pages/describe_command.h"
#include "base/files.h"
#include "base/number_checks.h"
#include "report/listing/list_options.h"
#include "training/trainer/commands.h"
#include "training/trainer/member_command.h"
#include "training/trainer/predictor_command.h"
#include "training/trainer/print_listing.h"
#include "training/trainer/selector_command.h"
#include "training/trainer/servers_command.h"
#include "training/trainer/worker/gang.h"

namespace orrery {
namespace {

using Run = std::function<Status()>;
using Check = std::function<std::string(const std::string&)>;

constexpr double kLargest = 1e15;
constexpr std::int64_t kLargestCount = 1'000'000'000'000;
constexpr int kWorkersMost = 4096, kShardsMost = 256;

// Every option with a number has one of these: CLI11 by itself takes nan, inf and -1.
Check between(double low, double high) {
  return [=](const std::string& text) { return check_number_between(text, low, high); };
}
Check above_0(double high) {
  return [=](const std::string& text) { return check_number_above_0(text, high); };
}
Check whole(std::int64_t low, std::int64_t high) {
  return [=](const std::string& text) { return check_whole_number(text, low, high); };
}

void add_learning(CLI::App& command, RunOptions& o) {
  command.add_option("--model", o.learner.model, "one of `orrery-train models`")
      ->capture_default_str();
  command.add_option("--data", o.learner.data, "one of `orrery-train data`")->capture_default_str();
  command.add_option("--data-folder", o.learner.data_folder,
                     "where `make data` has put things; build/data if that is there");
  command
      .add_option("--seed", o.learner.seed,
                  "seed of the first parameters and of the order of samples")
      ->check(whole(0, INT64_MAX))
      ->capture_default_str();
  command.add_option("--device", o.learner.device, "cpu or cuda")->capture_default_str();
  command.add_option("--threads", o.learner.threads, "threads of each worker")
      ->check(whole(1, 4096))
      ->capture_default_str();
  command.add_option("--batch", o.batch, "samples of all workers together")
      ->check(whole(1, 1 << 22))
      ->capture_default_str();
  command.add_option("--rate", o.rate, "learning rate")
      ->check(above_0(1e300))
      ->capture_default_str();
  command
      .add_option("--rate-scaling", o.rate_scaling,
                  "how the rate follows the number of workers: none, linear, sqrt or inverse-sqrt")
      ->capture_default_str();
  command
      .add_option("--rate-step", o.rate_steps,
                  "SAMPLES:FACTOR: multiply the rate after that many samples (repeatable)")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--warm-up", o.warm_up, "samples until the full rate is reached")
      ->check(whole(0, kLargestCount));
  command.add_option("--optimizer", o.optimizer.kind, "sgd or adam")->capture_default_str();
  command.add_option("--momentum", o.optimizer.momentum, "momentum of sgd")
      ->check(between(0, 1))
      ->capture_default_str();
  command
      .add_option("--weight-decay", o.optimizer.weight_decay,
                  "share of each parameter that a step takes away")
      ->check(between(0, kLargest))
      ->capture_default_str();
}

void add_end(CLI::App& command, RunOptions& o) {
  command
      .add_option("--target", o.target,
                  "end when the mean of --target-over evaluations is at this accuracy, 0 to 1")
      ->check(between(0, 1));
  command.add_option("--target-over", o.target_over, "evaluations in a row for --target")
      ->check(whole(1, 1 << 20))
      ->capture_default_str();
  command.add_option("--steps", o.steps, "end after this many gradients")
      ->check(whole(0, kLargestCount));
  command.add_option("--time-limit", o.time_limit,
                     "end after this long, such as 90s, earlier sessions included");
  command
      .add_option("--evaluate-every", o.evaluate_every,
                  "samples between evaluations; 0: twenty batches")
      ->check(whole(0, kLargestCount));
  command
      .add_option("--checkpoint-every", o.checkpoint_every,
                  "samples between checkpoints; 0: only when the run ends")
      ->check(whole(0, kLargestCount));
  command.add_option("--keep", o.keep, "number of checkpoints that are kept")
      ->check(whole(1, 1 << 20))
      ->capture_default_str();
  command
      .add_option("--spoiled-most", o.spoiled_most,
                  "fail after this many gradients in a row that are not finite; 0: never")
      ->check(whole(0, 1 << 30))
      ->capture_default_str();
}

void add_emulation(CLI::App& command, RunOptions& o) {
  command.add_option("--stragglers", o.stragglers,
                     "file that says which worker is slow when: docs/formats/stragglers.md");
  command
      .add_option("--straggler-seed", o.straggler_seed,
                  "seed of the script's random parts; 0: the run's")
      ->check(whole(0, INT64_MAX));
  command.add_option("--cores", o.cores, "CPU cores of each worker's emulated server")
      ->check(between(0, 4096));
  command
      .add_option("--link", o.link, "bytes a second of the link of each worker's emulated server")
      ->check(between(0, kLargest));
  command
      .add_option("--shard-cores", o.shard_cores,
                  "CPU cores of each shard's emulated server; 0: what workers leave")
      ->check(between(0, 4096));
  command
      .add_option("--shard-link", o.shard_link,
                  "bytes a second of each shard's link; 0: as all workers' together")
      ->check(between(0, kLargest));
  command
      .add_option("--tree", o.tree,
                  "auto: workers hand in at each other while a shard's link is overloaded; never")
      ->capture_default_str();
  command.add_option(
      "--servers", o.servers,
      "share those of `orrery-train servers --dir`; the sizes above are then requests");
  command
      .add_option("--cpu-means", o.cpu_means,
                  "how CPU quotas are kept: auto, cgroup-v1, cgroup-v2, duty-cycle, none")
      ->capture_default_str();
  command
      .add_option("--link-means", o.link_means,
                  "how link rates are kept: auto, tbf, token-bucket, none")
      ->capture_default_str();
}

void add_run(CLI::App& app, RunOptions& o, const TrainPorts& ports, Run& run) {
  CLI::App* command = app.add_subcommand("run", "train a model in several processes");
  command->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command->add_option("--arch", o.arch, "ps or allreduce")->capture_default_str();
  command->add_option("--workers", o.workers, "number of worker processes")
      ->check(whole(1, kWorkersMost))
      ->capture_default_str();
  command
      ->add_option("--workers-most", o.workers_most,
                   "largest number of workers that `resize` may ask for")
      ->check(whole(0, kWorkersMost));
  command->add_flag("--anyway", o.anyway,
                    "more workers than cores and memory of this machine allow");
  command->add_option("--shards", o.shards, "number of processes that hold the parameters, with ps")
      ->check(whole(1, kShardsMost))
      ->capture_default_str();
  command
      ->add_option("--mode", o.mode,
                   "ssgd, asgd, static-x, ssp, lgc, zeno++, dynamic, lb-bsp, sync-switch, star")
      ->capture_default_str();
  command->add_option("--x", o.x, "parameter of the mode: x of static-x, K of lgc, bound of ssp")
      ->check(whole(0, 1 << 30));
  command->add_option("--predictor", o.predictor, "for star: a file that `predictor fit` made");
  command->add_option("--selector", o.selector, "for star: learned or heuristic")
      ->capture_default_str();
  command
      ->add_option("--experience", o.experience,
                   "for star: --dir of an earlier run of the same training (repeatable)")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--blocks", o.blocks, "parts in which a task is computed; 0: as the mode needs")
      ->check(whole(0, 1 << 20));
  add_learning(*command, o);
  add_end(*command, o);
  command->add_flag("--replace", o.replace, "start another worker for one that dies");
  add_emulation(*command, o);
  command->add_option("--patience", o.ring_patience_s, "seconds a ring waits for its members")
      ->check(above_0(1e9))
      ->capture_default_str();
  command
      ->add_option("--silence", o.silence_s,
                   "seconds without a heartbeat until a worker is replaced (--replace); half of "
                   "them until a warning")
      ->check(above_0(1e9))
      ->capture_default_str();
  command->add_option("--listen", o.listen, "address at which workers may join")
      ->capture_default_str();
  command->add_option("--trace-steps", o.trace_steps,
                      "write what each worker did in each step to F.csv, for orrery stragglers");
  command->add_option("--dir", o.folder, "folder for tables and checkpoints");
  command->add_flag("--members", o.members,
                    "only prepare --dir, for `member` processes that lead and carry out the run");
  command->add_option("--holder", o.holder, "the member that leads the run; `member` says it")
      ->group("");
  command->add_option("--epoch", o.epoch, "of its lease")->check(whole(0, 1 << 20))->group("");
  command->add_option("--resume", o.resume, "go on with the run in this folder");
  command
      ->add_option(
          "--from", o.from,
          "what --resume goes on from: the last checkpoint (last), or the best model (best)")
      ->capture_default_str();
  command->add_flag("--json", o.json, "print one JSON object");
  command->add_flag("--quiet", o.quiet, "no progress");
  command->callback([&o, &ports, &run] { run = [&o, &ports] { return run_command(o, ports); }; });
}

void add_predictor(CLI::App& app, const TrainPorts& ports, Run& run) {
  const auto kept = std::make_shared<PredictorArguments>();
  PredictorArguments& a = *kept;
  CLI::App* command =
      app.add_subcommand("predictor", "prediction of stragglers: learn it from runs, and judge it");
  command->require_subcommand(1);
  CLI::App* fit = command->add_subcommand("fit", "learn from the folders of runs");
  fit->add_option("folders", a.folders, "--dir of runs")->required();
  fit->add_option("--out", a.file, "the file to make")->required();
  fit->add_option("--held-out", a.held_out, "share of each series, its end, to judge by")
      ->capture_default_str()
      ->check(between(0.05, 0.9));
  add_list_options(*fit, a.list);
  fit->callback([kept, &ports, &run] {
    run = [kept, &ports] { return predictor_fit_command(*kept, ports); };
  });
  CLI::App* score = command->add_subcommand("score", "judge predictors on the ends of series");
  score->add_option("folders", a.folders, "--dir of runs")->required();
  score->add_option("--predictor", a.file, "one that was fitted, beside the built-in");
  score->add_option("--held-out", a.held_out, "share of each series, its end, to judge by")
      ->capture_default_str()
      ->check(between(0.05, 1));
  add_list_options(*score, a.list);
  score->callback([kept, &ports, &run] {
    run = [kept, &ports] { return predictor_score_command(*kept, ports); };
  });
}

void add_selector(CLI::App& app, const TrainPorts& ports, Run& run) {
  const auto kept = std::make_shared<SelectorArguments>();
  CLI::App* command = app.add_subcommand("selector", "star's learned choice of the mode");
  command->require_subcommand(1);
  CLI::App* score = command->add_subcommand("score", "judge it on the windows of runs under star");
  score->add_option("folders", kept->folders, "--dir of runs of one training")->required();
  add_list_options(*score, kept->list);
  score->callback([kept, &ports, &run] {
    run = [kept, &ports] { return selector_score_command(*kept, ports); };
  });
}

void add_servers(CLI::App& app, Run& run) {
  const auto kept = std::make_shared<ServersArguments>();
  ServersArguments& a = *kept;
  CLI::App* command = app.add_subcommand("servers", "servers that runs on this machine share");
  command->add_option("--dir", a.folder, "where `run --servers` finds them")->required();
  command->add_option("--count", a.count, "number of servers")
      ->check(whole(1, 10000))
      ->capture_default_str();
  command->add_option("--cores", a.cores, "CPU cores of each server")
      ->check(above_0(4096))
      ->required();
  command
      ->add_option("--link", a.link,
                   "bytes a second of each server's link; 0: links are not counted")
      ->check(between(0, kLargest));
  command->add_option("--listen", a.listen, "address to listen at")->capture_default_str();
  command->add_flag("!--no-consideration", a.considers,
                    "grant every mode, and leave limits as they are");
  command->callback([kept, &run] { run = [kept] { return servers_command(*kept); }; });
}

void add_member(CLI::App& app, Run& run) {
  const auto kept = std::make_shared<MemberArguments>();
  MemberArguments& a = *kept;
  CLI::App* command =
      app.add_subcommand("member", "one machine of a run that outlives the loss of any machine");
  command->add_option("folder", a.folder, "--dir of `run --members`; all members share it")
      ->required();
  command->add_option("--name", a.name, "of this member, another one each time")->required();
  command->add_option("--role", a.role, "worker, shard, evaluator or chief")->required();
  command->add_option("--index", a.index, "which shard")->check(whole(0, kShardsMost - 1));
  command->add_flag("--may-lead", a.may_lead, "lead the run when no other member does");
  command
      ->add_option("--patience", a.patience_s,
                   "seconds without a renewal until the lease of another member is over")
      ->check(above_0(1e6))
      ->capture_default_str();
  command
      ->add_option("--cores", a.cores,
                   "of a worker: CPU quota from its first task on, so that a fast machine stands "
                   "for a slow one")
      ->check(above_0(1e6));
  command->callback([kept, &run] { run = [kept] { return member_command(*kept); }; });
}

void add_resize(CLI::App& app, Run& run) {
  const auto kept = std::make_shared<ResizeArguments>();
  CLI::App* command = app.add_subcommand("resize", "give a run more or fewer workers");
  command->add_option("folder", kept->folder, "the run's --dir")->required();
  command->add_option("workers", kept->workers, "the number of workers")
      ->check(whole(1, 1 << 30))
      ->required();
  command->add_flag("--anyway", kept->anyway, "more than cores and memory of this machine allow");
  command->add_flag("--json", kept->json, "print one JSON object");
  command->callback([kept, &run] { run = [kept] { return resize_command(*kept); }; });
}

void add_evaluate(CLI::App& app, const TrainPorts& ports, Run& run) {
  const auto kept = std::make_shared<EvaluateArguments>();
  CLI::App* command = app.add_subcommand("evaluate", "the accuracy of a run's checkpoint");
  command->add_option("folder", kept->folder, "the run's --dir")->required();
  command->add_option("--from", kept->from, "last or best")->capture_default_str();
  command->add_flag("--json", kept->json, "print one JSON object");
  command->callback(
      [kept, &ports, &run] { run = [kept, &ports] { return evaluate_command(*kept, ports); }; });
}

void add_worker(CLI::App& app, const TrainPorts& ports, Run& run) {
  const auto kept = std::make_shared<JoinArguments>();
  CLI::App* command = app.add_subcommand("worker", "join a run on another machine");
  command->add_option("--join", kept->head, "HOST:PORT, as in the run's folder")->required();
  command->add_option("--token-file", kept->token_file, "the run's token")->required();
  command->add_option("--listen", kept->listen,
                      "address at which the others reach it; by default the one it reaches the "
                      "head from");
  command->callback(
      [kept, &ports, &run] { run = [kept, &ports] { return worker_command(*kept, ports); }; });
}

// `models` and `data`: a name a line, unless another form is asked for.
void add_names(CLI::App& app, const char* name, const char* line,
               std::function<std::vector<std::string>()> names, Run& run) {
  const auto kept = std::make_shared<ListArguments>();
  CLI::App* command = app.add_subcommand(name, line);
  add_list_options(*command, *kept);
  command->callback([kept, name, names, &run] {
    run = [kept, name, names]() -> Status {
      Listing listing{.name = name, .columns = {{name, "name"}}, .fields = {"name"}};
      for (const std::string& each : names()) listing.rows.push_back({{"name", each}});
      ListArguments arguments = *kept;
      if (arguments.output.empty() && !arguments.json) arguments.output = "template={{name}}";
      return print_listing(std::move(listing), arguments);
    };
  });
}

// The options of the run when it began. Those of this command replace them.
Status recall(int argc, char** argv, RunOptions& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    std::string folder;
    if (word == "--resume" && i + 1 < argc) folder = argv[i + 1];
    if (word.starts_with("--resume=")) folder = word.substr(9);
    if (folder.empty()) continue;
    // The folder is that of rank 0.
    if (const auto gang = read_gang(); gang.ok() && gang.value() && gang.value()->rank > 0)
      continue;
    TRY_ASSIGN(const std::string text, read_file(folder + "/run.json"));
    auto read = parse_run_options(text);
    if (!read.ok()) return std::move(read).error().at(folder + "/run.json");
    options = std::move(read).value();
  }
  return {};
}

int exit_code(const Status& status, bool says_errors = true) {
  if (status.ok()) return 0;
  if (says_errors) {
    std::fputs(fmt::format("orrery-train: {}\n", status.error().message).c_str(), stderr);
  }
  return status.error().code == Code::InvalidArgument ? 2 : 1;
}

}  // namespace

void add_train_commands(CLI::App& app, TrainCall& call, const TrainPorts& ports) {
  app.name("orrery-train");
  app.description("Trains models in several processes, in spite of stragglers.");
  app.set_version_flag("--version", call.version);
  app.require_subcommand(1);
  Run& run = call.run;
  add_run(app, call.options, ports, run);
  app.add_subcommand("part", "a process of a run; `run` starts it")
      ->group("")
      ->callback([&call, &ports] {
        call.says_errors = false;
        call.run = [&ports] { return run_part(ports); };
      });
  add_resize(app, run);
  add_evaluate(app, ports, run);
  add_worker(app, ports, run);
  add_member(app, run);
  add_servers(app, run);
  add_predictor(app, ports, run);
  add_selector(app, ports, run);
  add_describe(app, run);
  add_names(app, "models", "what can be trained", ports.models, run);
  add_names(app, "data", "what it can be trained on", ports.data, run);
}

int train_main(int argc, char** argv, const TrainPorts& ports, std::string version) {
  TrainCall call{.version = std::move(version)};
  if (const Status recalled = recall(argc, argv, call.options); !recalled.ok()) {
    const int code = exit_code(recalled);
    return recalled.error().code == Code::NotFound ? 2 : code;
  }
  CLI::App app;
  add_train_commands(app, call, ports);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return exit_code(call.run(), call.says_errors);
}

}  // namespace orrery
