#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "live/client/commands.h"
#include "live/client/context_commands.h"
#include "live/client/job_draft.h"
#include "live/client/rights_commands.h"
#include "live/client/roles.h"
#include "live/client/trust_commands.h"
#include "report/listing/list_options.h"

namespace orrery {
namespace {

void add_connection(CLI::App& command, ConnectionArguments& connection) {
  command.add_option("--state", connection.state, "state directory of a scheduler on this machine")
      ->group("Scheduler");
  command.add_option("--context", connection.context, "a scheduler that `orrery context` lists")
      ->group("Scheduler");
  command.add_option("--server", connection.server, "HOST:PORT of a scheduler elsewhere")
      ->group("Scheduler");
  command
      .add_option("--credentials", connection.credentials,
                  "folder with the certificate for --server")
      ->group("Scheduler");
}

// An error that another scheduler would not give says what named this one, if no argument did.
Status with_source(Status done, const ConnectionArguments& connection,
                   const CommandContext& context) {
  constexpr Code kAboutScheduler[] = {Code::Unavailable, Code::PermissionDenied,
                                      Code::Unauthenticated, Code::NotFound};
  if (done.ok() ||
      std::ranges::find(kAboutScheduler, done.error().code) == std::end(kAboutScheduler)) {
    return done;
  }
  const auto choice = choose_scheduler(connection, context.environment);
  if (!choice.ok() || choice.value().source.empty()) return done;
  const std::string& source = choice.value().source;
  Error error = std::move(done).error();
  if (!error.message.starts_with(source)) error.message += fmt::format(" [{}]", source);
  return error;
}

// Everything there is to add a command with.
class Adder {
 public:
  Adder(CLI::App& app, std::function<Status()>& run, std::shared_ptr<const CommandContext> context)
      : app_(app), run_(run), context_(std::move(context)) {}

  // The subcommand, and its arguments in `arguments`, which live as long as it.
  template <class Arguments>
  CLI::App& add(const char* name, const char* line,
                Status (*command)(const Arguments&, const CommandContext&), Arguments*& arguments) {
    const auto kept = std::make_shared<Arguments>();
    arguments = kept.get();
    CLI::App* added = app_.add_subcommand(name, line);
    constexpr bool kKeepsUnexpected = requires { kept->unexpected; };
    added->allow_extras(kKeepsUnexpected);
    added->callback([kept, command, added, &run = run_, context = context_] {
      std::vector<std::string> unexpected = added->remaining();
      if constexpr (kKeepsUnexpected) kept->unexpected = std::move(unexpected);
      run = [kept, command, context]() -> Status {
        Status done = command(*kept, *context);
        if constexpr (requires { kept->connection; }) {
          return with_source(std::move(done), kept->connection, *context);
        }
        return done;
      };
    });
    if constexpr (requires { kept->connection; }) add_connection(*added, kept->connection);
    if constexpr (requires { kept->list; }) add_list_options(*added, kept->list);
    if constexpr (requires { kept->json; }) {
      added->add_flag("--json", kept->json, "print one JSON object instead of text");
    }
    return *added;
  }

 private:
  CLI::App& app_;
  std::function<Status()>& run_;
  std::shared_ptr<const CommandContext> context_;
};

void add_submit(Adder& adder, const std::vector<std::string>& program) {
  SubmitArguments* a = nullptr;
  CLI::App& command =
      adder.add("submit", "hand a job to the scheduler: submit [OPTIONS] -- PROGRAM ARGUMENTS...",
                submit_command, a);
  a->program = program;
  for (const JobSetting& setting : job_settings()) {
    const std::string name(setting.name);
    if (setting.flag) {
      command.add_flag_callback(
          "--" + name, [a, name] { a->settings.emplace_back(name, "true"); },
          std::string(setting.what));
    } else {
      command.add_option_function<std::string>(
          "--" + name, [a, name](const std::string& text) { a->settings.emplace_back(name, text); },
          std::string(setting.what));
    }
  }
  command.add_option("--env", a->variables, "NAME=VALUE, or NAME: as it is here (repeatable)")
      ->allow_extra_args(false);
  command.add_option("--file", a->file, "a job file; what is said here wins");
  command.add_flag("--wait", a->wait,
                   "until it has ended; then with its exit code, 128 and the signal, or 1");
}

// Which jobs are meant. --state is a state directory, too: a job's state is never one.
void add_filter(CLI::App& command, JobFilter& filter, ConnectionArguments& connection) {
  command.remove_option(command.get_option("--state"));
  command
      .add_option_function<std::vector<std::string>>(
          "--state",
          [&filter, &connection](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              if (const auto states = parse_job_states(text)) {
                filter.states.insert(filter.states.end(), states->begin(), states->end());
              } else {
                connection.state = text;
              }
            }
          },
          "pending, running, ... (with commas): only such jobs; anything else is the state "
          "directory of a scheduler on this machine (repeatable)")
      ->allow_extra_args(false);
  command.add_option("--name", filter.name, "only jobs of this name, or such as 'train-*'");
  command.add_option("--user", filter.user, "only those of one user, of me, or such as 'a*'");
}

void add_jobs(Adder& adder) {
  StatusArguments* status = nullptr;
  CLI::App& show = adder.add("status", "jobs, and why they wait", status_command, status);
  show.add_option("ids", status->ids, "jobs, as 17 or 17-20");
  show.add_flag("--all", status->all, "those that have ended, too");
  add_filter(show, status->filter, status->connection);
  show.add_option("--limit", status->limit,
                  "at most this number of jobs: the first with --sort, else the newest");
  show.add_option("--wait-idle", status->wait_idle,
                  "until nothing is pending or running, for so long at most; else 1");
  show.add_flag("--watch", status->watch, "again and again, until Ctrl-C");

  CancelArguments* cancel = nullptr;
  CLI::App& end = adder.add("cancel", "end jobs", cancel_command, cancel);
  end.add_option("ids", cancel->ids, "jobs, as 17 or 17-20");
  add_filter(end, cancel->filter, cancel->connection);
  end.add_flag("--yes,-y", cancel->yes, "without a question if several jobs match");

  LogsArguments* logs = nullptr;
  CLI::App& output = adder.add("logs", "what jobs printed", logs_command, logs);
  output.add_option("ids", logs->ids, "jobs, as 17 or 17-20")->required();
  output.add_flag("--follow,-f", logs->follow, "go on until it has ended");
  output.add_option("--rank", logs->rank, "which of its processes, from 0");
  output.add_option("--tail", logs->tail, "only this many lines from the end");
  output.add_flag("--stderr", logs->errors, "standard error, of a job submitted with --error");
}

void add_cluster(Adder& adder) {
  NodesArguments* nodes = nullptr;
  adder.add("nodes", "machines, and what is free on them", nodes_command, nodes);

  DrainArguments* drain = nullptr;
  CLI::App& command = adder.add("drain", "give a node no more jobs", drain_command, drain);
  command.add_option("node", drain->request.node, "its name")->required();
  CLI::Option* now = command.add_flag("--now", drain->request.now, "those on it move away");
  command
      .add_flag("--lost", drain->request.lost,
                "the machine is off: what ran there starts elsewhere at once")
      ->excludes(now);
  command.add_flag("--replace-log", drain->request.replace_log,
                   "the jobs of another log end there, and the node obeys this scheduler");

  DrainArguments* resume = nullptr;
  adder.add("resume", "give a node jobs again", drain_command, resume)
      .add_option("node", resume->request.node, "its name")
      ->required();
  resume->request.resume = true;

  EventsArguments* events = nullptr;
  CLI::App& log = adder.add("events", "what happened, a line each", events_command, events);
  log.add_flag("--follow,-f", events->follow, "go on until Ctrl-C, from the last ten");
  log.add_option("--from", events->from, "a sequence number, or -N: the last N");

  PolicyArguments* policy = nullptr;
  CLI::App& rule = adder.add("policy", "show or set the policy", policy_command, policy);
  rule.add_option("name", policy->policy, "one of `orrery policies`; shows it if left out");
  rule.add_option("--option", policy->options, "key=value for it (repeatable)");

  QuotaArguments* quota = nullptr;
  CLI::App& share = adder.add("quota", "GPUs that tenants can count on", quota_command, quota);
  share.add_option("tenant", quota->tenant, "whose; all if left out");
  share.add_option("gpus", quota->gpus, "how many, or none; shows it if left out");
  share.add_flag("--no-borrow", quota->no_borrow, "no more than that even if others are idle");
}

void add_admission(Adder& adder) {
  TokensArguments* tokens = nullptr;
  CLI::App& list = adder.add("tokens", "join tokens that can be used", tokens_command, tokens);
  list.add_option("--withdraw", tokens->withdraw, "the id of a token that shall not be used");

  CertificatesArguments* certificates = nullptr;
  adder.add("certificates", "certificates of users and agents", certificates_command, certificates);

  RevokeArguments* revoke = nullptr;
  CLI::App& refuse =
      adder.add("revoke", "refuse a certificate from now on", revoke_command, revoke);
  refuse.add_option("serial", revoke->serial, "as `orrery certificates` lists it");
  refuse.add_option("--name", revoke->name,
                    "all certificates that were issued to a name, and its tokens");
  refuse.add_option("--role", revoke->role, "of the name; every role if left out");

  RemoveArguments* remove = nullptr;
  adder
      .add("remove", "take a node without jobs out of the cluster; its agent must join again",
           remove_command, remove)
      .add_option("node", remove->node, "its name")
      ->required();
}

void add_rights(Adder& adder) {
  TenantsArguments* tenants = nullptr;
  CLI::App& members = adder.add("tenants", "show or set the users that may submit for tenants",
                                tenants_command, tenants);
  members.add_option("tenant", tenants->tenant, "the tenant; all if left out");
  members.add_option("--add", tenants->add, "a user, or @GROUP (repeatable)")
      ->allow_extra_args(false);
  members.add_option("--remove", tenants->remove, "a user, or @GROUP (repeatable)")
      ->allow_extra_args(false);
  members.add_flag("--forget", tenants->forget, "remove the list of members");

  LimitsArguments* limits = nullptr;
  CLI::App& command =
      adder.add("limits", "show or set the limits of users and tenants", limits_command, limits);
  command.add_option("of", limits->scope,
                     "user or tenant, with its name; users or tenants: each without its own");
  command.add_option("name", limits->name, "of the user or tenant");
  command.add_option("--priority", limits->priority, "highest priority of a job, or default");
  command.add_option("--gpus", limits->gpus, "GPUs in use at a time, none or default");
  command.add_option("--pending", limits->pending, "jobs that wait, none or default");
  command.add_option("--submissions", limits->submissions, "submissions a minute, none or default");
}

void add_trust(Adder& adder) {
  TokenArguments* token = nullptr;
  CLI::App& make = adder.add("token", "make a token for `orrery join`", token_command, token);
  make.add_option("--role", token->role, std::string(kJoinRoles))->capture_default_str();
  make.add_option("--name", token->name, "the name it is for; an agent may choose one if left out");
  make.add_option("--valid", token->valid, "for how long")->capture_default_str();
  make.add_option("--uses", token->uses, "how often")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));

  add_admission(adder);

  JoinArguments* join = nullptr;
  CLI::App& joining = adder.add("join", "get a certificate for a token", join_command, join);
  joining.add_option("--server", join->server, "HOST:PORT of the scheduler, gRPC or HTTPS")
      ->required();
  joining.add_option("--credentials", join->credentials, "folder to keep the certificate in");
  joining.add_option("--token-file", join->token_file, "the token; standard input if left out");
  joining.add_option("--role", join->role, std::string(kJoinRoles))->capture_default_str();
  joining.add_option("--name", join->name,
                     "the name to join as; the login name, or for an agent that of the machine");
  joining.add_option("--context", join->context,
                     "the name to keep it under; the server's host if left out");
}

void add_contexts(CLI::App& app, std::function<Status()>& run,
                  const std::shared_ptr<const CommandContext>& context) {
  CLI::App* group = app.add_subcommand("context", "schedulers by names of your own: lists them");
  Adder adder(*group, run, context);
  const auto all = std::make_shared<ListArguments>();
  add_list_options(*group, *all);
  group->callback([group, all, &run, context] {
    if (!group->get_subcommands().empty()) return;
    run = [all, context] { return context_list_command(*all, *context); };
  });
  ContextShowArguments* show = nullptr;
  adder.add("show", "the scheduler that commands use here, and what names it", context_show_command,
            show);
  ContextArguments* use = nullptr;
  adder.add("use", "the scheduler of all commands that name no other", context_use_command, use)
      .add_option("name", use->context.name, "as `orrery context` lists it")
      ->required();
  ContextArguments* add = nullptr;
  CLI::App& adding = adder.add("add", "keep a scheduler under a name", context_add_command, add);
  adding.add_option("name", add->context.name, "of your own")->required();
  adding.add_option("--server", add->context.server, "HOST:PORT");
  adding.add_option("--state", add->context.state, "state directory of one on this machine");
  adding.add_option("--credentials", add->context.credentials,
                    "folder with the certificate for --server");
  ContextArguments* remove = nullptr;
  adder.add("remove", "forget a name; certificates stay", context_remove_command, remove)
      .add_option("name", remove->context.name, "as `orrery context` lists it")
      ->required();
}

}  // namespace

void add_submit_command(CLI::App& app, std::function<Status()>& run,
                        const std::vector<std::string>& program,
                        std::shared_ptr<const CommandContext> context) {
  Adder adder(app, run, std::move(context));
  add_submit(adder, program);
}

void add_live_commands(CLI::App& app, std::function<Status()>& run,
                       const std::vector<std::string>& program,
                       std::shared_ptr<const CommandContext> context) {
  Adder adder(app, run, context);
  add_submit(adder, program);
  add_jobs(adder);
  add_cluster(adder);
  add_rights(adder);
  add_trust(adder);
  add_contexts(app, run, context);
}

}  // namespace orrery
