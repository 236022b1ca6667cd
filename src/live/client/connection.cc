#include "live/client/connection.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "base/files.h"
#include "base/logins.h"
#include "live/client/job_filter.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

Error no_permission(const std::string& state) {
  struct stat found {};
  const bool seen = ::stat(state.c_str(), &found) == 0;
  const std::string owner = seen ? login_name(found.st_uid) : "its owner";
  return {Code::PermissionDenied,
          fmt::format("permission denied: {} is closed to {}; its scheduler serves {} and root "
                      "alone, unless it is started with --other-users",
                      state, login_name(::geteuid()), owner)};
}

Result<Endpoint> in_state(const std::string& state) {
  std::error_code problem;
  if (!fs::is_directory(state, problem)) {
    if (problem == std::errc::permission_denied) return no_permission(state);
    return invalid(fmt::format(
        "{}: there is no such state directory{}; is `orrery serve --local --state {}` "
        "running?",
        state,
        state.find('/') == state.npos ? ", and " + all_job_states() + " are the states of jobs"
                                      : "",
        state));
  }
  const std::string path = (fs::path(state) / "address").string();
  const Result<std::string> text = read_file(path);
  struct stat found {};
  if (!text.ok() && ::stat(path.c_str(), &found) != 0 && errno == EACCES) {
    return no_permission(state);
  }
  if (!text.ok() && S_ISREG(found.st_mode)) {
    return Error{Code::PermissionDenied,
                 fmt::format("permission denied: {} cannot be read by {} (mode {:o}); its owner {} "
                             "can mend that by chmod 644 {}",
                             path, login_name(::geteuid()), found.st_mode & 07777,
                             login_name(found.st_uid), path)};
  }
  const std::string address = text.ok() ? text.value().substr(0, text.value().find('\n')) : "";
  if (address.empty()) {
    return Error{Code::Unavailable,
                 fmt::format("{}: says no address; is `orrery serve --local --state {}` running?",
                             path, state)};
  }
  if (Status checked = check_address(address); !checked.ok()) {
    return std::move(checked).error().at(path);
  }
  return Endpoint{.address = address,
                  .credentials = (fs::path(state) / "trust").string(),
                  .certificate = kOwnersCertificate,
                  .socket = (fs::path(state) / kSocketName).string()};
}

Result<Endpoint> at_server(const NamedContext& scheduler) {
  std::error_code problem;
  if (!fs::exists(fs::path(scheduler.credentials) / "ca.pem", problem)) {
    return invalid(fmt::format(
        "{}: there are no credentials; get a token from the cluster's admin and run `orrery join "
        "--server {} --token-file FILE`",
        scheduler.credentials, scheduler.server));
  }
  return Endpoint{.address = scheduler.server,
                  .credentials = scheduler.credentials,
                  .certificate = kJoinedCertificate};
}

Status check_arguments(const ConnectionArguments& arguments) {
  if (!arguments.state.empty() && !arguments.server.empty()) {
    return invalid("--state and --server name two schedulers; leave out one");
  }
  if (!arguments.context.empty() && !(arguments.state.empty() && arguments.server.empty())) {
    return invalid("--context names a scheduler; leave out --state and --server, or it");
  }
  if (arguments.server.empty() && !arguments.credentials.empty()) {
    return invalid("--credentials goes with --server HOST:PORT; a state directory has its own");
  }
  return {};
}

// A server that is named by its address: the certificate is that of a context for it, if there is
// one and no other is said.
Result<NamedContext> of_server(const ConnectionArguments& arguments, const char* named_by,
                               const Variables& environment) {
  if (Status checked = check_address(arguments.server); !checked.ok()) {
    return std::move(checked).error().at(named_by);
  }
  NamedContext named{.server = arguments.server};
  if (arguments.credentials.empty() && variable(environment, "ORRERY_CREDENTIALS").empty()) {
    TRY_ASSIGN(const Contexts contexts, read_contexts(environment));
    const NamedContext* kept = contexts.of_server(arguments.server);
    if (kept != nullptr) return NamedContext{*kept};
  }
  TRY_ASSIGN(named.credentials, credentials_directory(arguments.credentials, environment));
  return named;
}

Result<SchedulerChoice> from_context(const std::string& name, const std::string& named_by,
                                     const Variables& environment) {
  TRY_ASSIGN(const std::string file, contexts_file(environment));
  TRY_ASSIGN(const Contexts contexts, read_contexts(file));
  const NamedContext* found = contexts.find(name);
  if (found == nullptr) return no_context(name, contexts, file);
  return SchedulerChoice{*found, fmt::format("context {} ({})", name, named_by)};
}

}  // namespace

Status check_address(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const bool plain =
      !host.empty() && (bracketed || host.find_first_of(":[]") == std::string::npos) &&
      std::ranges::all_of(host, [](unsigned char c) { return c > 0x20 && c < 0x7f && c != '/'; });
  int port = 0;
  if (colon != std::string::npos) {
    const char* end = address.data() + address.size();
    const auto [rest, wrong] = std::from_chars(address.data() + colon + 1, end, port);
    if (wrong != std::errc() || rest != end) port = 0;
  }
  if (plain && port > 0 && port < 65536) return {};
  return invalid(fmt::format("'{}' is no address; write HOST:PORT, such as gpu-head:7077",
                             address.substr(0, 100)));
}

Result<std::string> credentials_directory(const std::string& said, const Variables& environment) {
  if (!said.empty()) return said;
  if (const std::string set = variable(environment, "ORRERY_CREDENTIALS"); !set.empty()) return set;
  const std::string directory = config_directory(environment);
  if (!directory.empty()) return directory;
  return invalid("HOME is not set; say where the credentials are by --credentials DIR");
}

Result<std::string> state_directory(const std::string& said, const Variables& environment) {
  if (!said.empty()) return said;
  if (const std::string set = variable(environment, "ORRERY_STATE"); !set.empty()) return set;
  const std::string usual = default_state_directory(environment);
  if (!usual.empty()) return usual;
  return invalid("HOME is not set; name the state directory by --state DIR");
}

Result<SchedulerChoice> choose_scheduler(const ConnectionArguments& arguments,
                                         const Variables& environment) {
  TRY(check_arguments(arguments));
  const std::string state = variable(environment, "ORRERY_STATE");
  const std::string server = variable(environment, "ORRERY_SERVER");
  const std::string context = variable(environment, "ORRERY_CONTEXT");
  if (!arguments.context.empty()) return from_context(arguments.context, "--context", environment);
  if (!arguments.state.empty()) return SchedulerChoice{.scheduler = {.state = arguments.state}};
  if (!arguments.server.empty()) {
    TRY_ASSIGN(NamedContext named, of_server(arguments, "--server", environment));
    return SchedulerChoice{.scheduler = std::move(named)};
  }
  if (int{!state.empty()} + int{!server.empty()} + int{!context.empty()} > 1) {
    return invalid(
        "ORRERY_STATE, ORRERY_SERVER and ORRERY_CONTEXT: more than one is set; unset the others, "
        "or write --state, --server or --context");
  }
  if (!state.empty()) return SchedulerChoice{{.state = state}, "ORRERY_STATE"};
  if (!server.empty()) {
    TRY_ASSIGN(NamedContext named, of_server({.server = server}, "ORRERY_SERVER", environment));
    return SchedulerChoice{std::move(named), "ORRERY_SERVER"};
  }
  if (!context.empty()) return from_context(context, "ORRERY_CONTEXT", environment);
  TRY_ASSIGN(const Contexts contexts, read_contexts(environment));
  if (!contexts.current.empty()) {
    TRY_ASSIGN(const std::string file, contexts_file(environment));
    return from_context(contexts.current, file, environment);
  }
  const std::string usual = default_state_directory(environment);
  std::error_code problem;
  if (!usual.empty() && fs::is_directory(usual, problem)) {
    return SchedulerChoice{{.state = usual}, "the default state directory"};
  }
  return invalid(
      "which scheduler? Write --state DIR (or set ORRERY_STATE) for one on this machine, or "
      "--server HOST:PORT or --context NAME; `orrery serve --local --detach` starts one");
}

bool may_be_starting(const ConnectionArguments& arguments, const Variables& environment) {
  const auto choice = choose_scheduler(arguments, environment);
  if (!choice.ok() || choice.value().scheduler.state.empty()) return false;
  std::error_code problem;
  return !fs::exists(fs::path(choice.value().scheduler.state) / "address", problem) && !problem;
}

Result<Endpoint> find_scheduler(const ConnectionArguments& arguments,
                                const Variables& environment) {
  TRY_ASSIGN(const SchedulerChoice choice, choose_scheduler(arguments, environment));
  const NamedContext& scheduler = choice.scheduler;
  Result<Endpoint> found =
      scheduler.state.empty() ? at_server(scheduler) : in_state(scheduler.state);
  if (found.ok() || choice.source.empty()) return found;
  return std::move(found).error().at(choice.source);
}

}  // namespace orrery
