#include "commands/programs/commands.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "commands/number_checks.h"

namespace orrery {
namespace {

constexpr const char* kState =
    "the scheduler's state directory; ORRERY_STATE or ~/.local/state/orrery if left out";

void add_limits(CLI::App& command, JobLimitArguments& limits, const std::string& with) {
  const auto add = [&](const char* name, auto& value, const char* what) {
    command.add_option(name, value, with + what)->capture_default_str()->group("Limits of jobs");
  };
  add("--cgroup", limits.cgroup,
      "directory for the jobs' cgroups; auto: below the agent's own, if it may; off: none");
  add("--job-processes", limits.processes,
      "processes and threads of one process of a job, with all its children; 0: no limit");
  add("--core-size", limits.core, "the largest core file, such as 1G, or unlimited");
  add("--log-size", limits.log_size,
      "so much of the end of each log that the agent keeps, such as 1G, or unlimited");
  add("--log-age", limits.log_age, "how long a log stays after its last line; 0: for ever");
}

void add_serve(CLI::App& app, std::function<Status()>& run) {
  const auto a = std::make_shared<ServeArguments>();
  CLI::App* command = app.add_subcommand("serve", "schedule real jobs on real machines");
  command->add_option("--state", a->state,
                      "directory for all that must outlive a restart; ORRERY_STATE or "
                      "~/.local/state/orrery if left out");
  command->add_flag("--local", a->local, "with an agent for this machine, in the same process");
  command->add_flag("--detach", a->background.detach,
                    "go on in the background: return when it answers; it writes to "
                    "STATE/serve.log then");
  command->add_flag("--json", a->background.json, "with --detach: print one JSON object");
  command->add_option("--policy", a->policy, "one of `orrery policies`; asked for once, kept after")
      ->capture_default_str();
  command->add_option("--option", a->options, "key=value for the policy (repeatable)");
  command->add_option("--seed", a->seed, "for policies that draw");
  command->add_option("--round", a->round, "hold rounds only at multiples of this, such as 60s");
  command
      ->add_option("--listen", a->listen,
                   "HOST:PORT for clients and agents; port 0: that of the last start, else any")
      ->capture_default_str();
  command->add_option("--rest", a->rest,
                      "HOST:PORT of HTTPS, for join, REST and metrics; off: for join alone; the "
                      "host of --listen and the last port if left out");
  command->add_option(
      "--host", a->hosts,
      "a further name or address for its certificate, besides those of --listen and --rest "
      "(repeatable)");
  command->add_flag("--other-users", a->other_users,
                    "serve every user although this does not run as root; without it, the user "
                    "that runs this and root alone");
  command->add_option("--lease", a->lease, "a node that is silent for longer gets no more jobs")
      ->capture_default_str();
  command
      ->add_option("--node-timeout", a->node_timeout,
                   "how long the jobs of a silent node wait for it before they start elsewhere, or "
                   "never")
      ->capture_default_str();
  command->add_flag("--new-log", a->new_log,
                    "begin a log although there was one, which is lost with all its jobs");
  command->add_option("--gpus", a->gpus, "with --local: GPUs to offer, instead of those there are")
      ->check(CLI::Range(0, 64));
  command->add_option("--name", a->name, "with --local: the node's name");
  add_limits(*command, a->limits, "with --local: ");
  command->add_option("--profiles", a->profiles,
                      "speed and sensitivity profiles that jobs can name, a file or a folder");
  command->add_option("--gpu-type", a->gpu_type, "the GPU type whose profiles are meant");
  CLI::Option* provider = command->add_option(
      "--provider", a->servers.provider,
      "hold as many servers as the queue needs: local (processes of this machine) or gce");
  CLI::Option* file = command->add_option(
      "--provider-file", a->servers.file,
      "TOML: prices, zones, limits and budgets of these servers (docs/formats/provider-file.md)");
  provider->needs(file);
  file->needs(provider);
  command->callback([a, &run] { run = [a] { return serve_command(*a); }; });
}

void add_agent(CLI::App& app, std::function<Status()>& run) {
  const auto a = std::make_shared<AgentArguments>();
  CLI::App* command = app.add_subcommand("agent", "run jobs on this machine for a scheduler");
  command->add_option("--state", a->state, "directory of this agent alone")->required();
  command->add_option("--server", a->server, "the scheduler, HOST:PORT")->required();
  command->add_option("--credentials", a->credentials, "where `orrery join --role agent` put them");
  command->add_option("--name", a->name, "the node's name; the host's if left out");
  command->add_option("--address", a->address, "where other nodes reach this one");
  command->add_option("--zone", a->zone, "nodes of one zone may be lost together (placement)");
  command
      ->add_option("--losses-per-day", a->losses_per_day,
                   "how often such a node is lost (placement)")
      ->check(number_between(0, 86400));
  command->add_option("--gpus", a->gpus, "GPUs to offer, instead of those there are")
      ->check(CLI::Range(0, 64));
  command->add_option("--gpu-type", a->gpu_type,
                      "what jobs call its GPUs, instead of the driver's name");
  add_limits(*command, a->limits, "");
  command->callback([a, &run] { run = [a] { return agent_command(*a); }; });
}

void add_backup(CLI::App& app, std::function<Status()>& run) {
  const auto a = std::make_shared<BackupArguments>();
  CLI::App* command =
      app.add_subcommand("backup", "copy a scheduler's log, also while the scheduler runs");
  command->add_option("--state", a->state, kState);
  command->add_option("--output,-o", a->output, "the new file")->required();
  command->add_flag("--json", a->json, "print one JSON object instead of text");
  command->callback([a, &run] { run = [a] { return backup_command(*a); }; });
}

void add_restore(CLI::App& app, std::function<Status()>& run) {
  const auto a = std::make_shared<RestoreArguments>();
  CLI::App* command =
      app.add_subcommand("restore", "put back a backup of a scheduler's log, while none runs");
  command->add_option("--state", a->state, kState);
  command->add_flag("--json", a->json, "print one JSON object instead of text");
  CLI::Option* backup = command->add_option("backup", a->backup, "what `orrery backup` wrote");
  command->add_flag("--as-is", a->as_is, "go on with the log that is there, without what is lost")
      ->excludes(backup);
  command->callback([a, &run] { run = [a] { return restore_command(*a); }; });
}

}  // namespace

void add_service_commands(CLI::App& app, std::function<Status()>& run) {
  add_serve(app, run);
  add_agent(app, run);
  add_backup(app, run);
  add_restore(app, run);
}

}  // namespace orrery
