#include "cloud/local_servers/local_servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

namespace orrery {

std::function<Time()> faster_clock(double factor) {
  const auto wall = [] {
    return Time(
        std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
  };
  const Time start = wall();
  const auto steady = std::chrono::steady_clock::now();
  return [start, steady, factor] {
    const Duration passed = std::chrono::steady_clock::now() - steady;
    return start + from_seconds(seconds(passed) * factor);
  };
}

LocalServers::LocalServers(LocalServersOptions options)
    : options_(std::move(options)), events_(options_.world, options_.clock()) {}

Result<std::unique_ptr<LocalServers>> LocalServers::open(LocalServersOptions options) {
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) return system_error(options.folder, error.value());
  std::filesystem::permissions(options.folder, std::filesystem::perms::owner_all, error);
  return std::unique_ptr<LocalServers>(new LocalServers(std::move(options)));
}

Time LocalServers::now() const { return std::max(options_.clock(), events_.now()); }

Result<std::vector<Server>> LocalServers::create_all(const std::vector<ServerSpec>& specs,
                                                     std::size_t min) {
  catch_up();
  for (const ServerSpec& spec : specs) {
    if (spec.name.find('/') != std::string::npos) {
      return invalid(fmt::format("'{}' is no name of a server: it has a slash", spec.name));
    }
  }
  TRY_ASSIGN(std::vector<Server> created, events_.create_all(specs, min));
  for (const Server& server : created) specs_[server.spec.name] = server.spec;
  catch_up();
  return created;
}

Result<std::vector<Server>> LocalServers::list(std::string_view job) {
  catch_up();
  TRY_ASSIGN(std::vector<Server> servers, events_.list(job));
  for (Server& server : servers) {
    if (!server.address.empty()) server.address = "127.0.0.1";
  }
  return servers;
}

Status LocalServers::stop(std::string_view server, EndReason reason) {
  catch_up();
  TRY(events_.stop(server, reason));
  catch_up();
  return {};
}

Status LocalServers::revoke(std::string_view server) {
  catch_up();
  TRY(events_.revoke(server));
  catch_up();
  return {};
}

Result<std::vector<ServerEvent>> LocalServers::events_after(std::int64_t sequence) {
  catch_up();
  return events_.events_after(sequence);
}

// The processes follow the events; a process that follows wrongly is an event again.
void LocalServers::catch_up() {
  events_.advance(now());
  for (auto& [name, process] : processes_) {
    if (process.is_gone()) {
      (void)events_.fail(name, EndReason::HostError, "its processes were killed by another hand");
    }
  }
  while (true) {
    const auto news = events_.events_after(acted_);
    if (!news.ok() || news.value().empty()) return;
    for (const ServerEvent& event : news.value()) {
      acted_ = event.sequence;
      act(event);
    }
  }
}

void LocalServers::act(const ServerEvent& event) {
  switch (event.kind) {
    case ServerEvent::Kind::Running:
      return start(event.server);
    case ServerEvent::Kind::Notice:
      return announce(event);
    case ServerEvent::Kind::Revoked:
    case ServerEvent::Kind::Stopped:
    case ServerEvent::Kind::Failed:
      processes_.erase(event.server);
      return;
    case ServerEvent::Kind::Requested:
    case ServerEvent::Kind::AtRisk:
      return;
  }
}

void LocalServers::start(const std::string& server) {
  const ServerSpec& spec = specs_.at(server);
  const std::string base = options_.folder + "/" + server;
  ServerProgram program{.script = spec.startup,
                        .environment = options_.environment,
                        .log = base + ".log",
                        .exit_file = base + ".exit"};
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"ORRERY_SERVER", server},
                                          {"ORRERY_SERVER_ROLE", spec.role},
                                          {"ORRERY_SERVER_INDEX", std::to_string(spec.index)},
                                          {"ORRERY_SERVER_ZONE", spec.offer.zone},
                                          {"ORRERY_SERVER_GPU", spec.offer.gpu},
                                          {"ORRERY_SERVER_NOTICE", base + ".notice"}}) {
    program.environment.push_back(fmt::format("{}={}", name, value));
  }
  auto started = ServerProcess::start(program);
  if (started.ok()) {
    processes_.emplace(server, std::move(started).value());
  } else {
    (void)events_.fail(server, EndReason::LaunchError, started.error().message);
  }
}

void LocalServers::announce(const ServerEvent& event) {
  const std::string path = options_.folder + "/" + event.server + ".notice";
  // A notice that cannot be written is still a notice: the signal follows.
  (void)write_file_atomically(path, fmt::format("{:.3f}\n", seconds(event.deadline)));
  const auto process = processes_.find(event.server);
  if (process != processes_.end() && options_.terminates_on_notice) process->second.terminate();
}

}  // namespace orrery
