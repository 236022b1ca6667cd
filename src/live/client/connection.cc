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

namespace orrery {
namespace {

namespace fs = std::filesystem;

std::string variable(const Variables& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

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
        "{}: there is no such state directory; is `orrery serve --local --state {}` running?",
        state, state));
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
  const std::string home = variable(environment, "HOME");
  if (!home.empty()) return (fs::path(home) / ".config" / "orrery").string();
  return invalid("HOME is not set; say where the credentials are by --credentials DIR");
}

bool may_be_starting(const ConnectionArguments& arguments, const Variables& environment) {
  if (!arguments.server.empty() || !arguments.credentials.empty()) return false;
  const std::string state =
      arguments.state.empty() ? variable(environment, "ORRERY_STATE") : arguments.state;
  std::error_code problem;
  const fs::path folder = state;
  return !state.empty() && !fs::exists(folder / "address", problem) && !problem;
}

Result<Endpoint> find_scheduler(const ConnectionArguments& arguments,
                                const Variables& environment) {
  if (!arguments.state.empty() && !arguments.server.empty()) {
    return invalid("--state and --server name two schedulers; leave out one");
  }
  if (arguments.server.empty() && !arguments.credentials.empty()) {
    return invalid("--credentials goes with --server HOST:PORT; a state directory has its own");
  }
  if (!arguments.state.empty()) return in_state(arguments.state);
  if (arguments.server.empty()) {
    const std::string state = variable(environment, "ORRERY_STATE");
    if (!state.empty()) {
      Result<Endpoint> found = in_state(state);
      if (found.ok()) return found;
      return std::move(found).error().at("ORRERY_STATE");
    }
    return invalid(
        "which scheduler? Write --state DIR (or set ORRERY_STATE) for one on this machine, or "
        "--server HOST:PORT");
  }
  if (Status checked = check_address(arguments.server); !checked.ok()) {
    return std::move(checked).error().at("--server");
  }
  TRY_ASSIGN(std::string credentials, credentials_directory(arguments.credentials, environment));
  std::error_code problem;
  if (!fs::exists(fs::path(credentials) / "ca.pem", problem)) {
    return invalid(fmt::format(
        "{}: there are no credentials; get a token from the cluster's admin and run `orrery join "
        "--server {} --token-file FILE`",
        credentials, arguments.server));
  }
  return Endpoint{.address = arguments.server,
                  .credentials = std::move(credentials),
                  .certificate = kJoinedCertificate};
}

}  // namespace orrery
