#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "hinder/script.h"
#include "model/time.h"

namespace orrery {

// What one emulated server has: a share of a core and a link.
struct ServerSize {
  double cores = 0.2;
  double bytes_per_s = 0;  // 0: no limit
};

struct ServerUse {
  double cpu_s = 0;        // used so far
  double throttled_s = 0;  // held back so far
  double in_bytes = 0, out_bytes = 0;
};

// Emulated servers on one machine, each with a fixed CPU quota and a link, so that several trainers
// on few cores are independent of each other (specs/star.md 7.3). The best means that the machine
// allows is taken, for CPU and for the link apart, and named: "cgroup-v1", "cgroup-v2",
// "duty-cycle" (SIGSTOP and SIGCONT); "tbf" (a network namespace for each server), "token-bucket"
// (in the transport). Everything is undone when the object goes, also after errors.
class Servers {
 public:
  virtual ~Servers() = default;

  virtual std::string cpu_means() const = 0;
  virtual std::string link_means() const = 0;
  // Puts a process on a server; called in the parent right after the fork, before anything of
  // weight runs in it.
  virtual Status add(int server, pid_t pid) = 0;
  // The command that runs `command` within the server's network, if that takes one.
  virtual std::vector<std::string> inside(int server, std::vector<std::string> command) const = 0;
  // The address by which others reach a process on that server.
  virtual std::string address(int server) const = 0;
  virtual Status set_share(int server, Hindrance resource, double share) = 0;
  // For "token-bucket": the rate the transport has to keep to now; 0: no limit.
  virtual double transport_bytes_per_s(int server) const = 0;
  virtual Result<ServerUse> use(int server) const = 0;
};

struct ServersOptions {
  std::vector<ServerSize> sizes{};
  std::string cpu = "auto";  // or the name of one of the means; "none"
  std::string link = "auto";
  std::string name{};  // of this run, in the names of what is made
};
Result<std::unique_ptr<Servers>> make_servers(const ServersOptions& options);

// Whether the machine left room for all quotas the whole time: reads what others used.
struct MachineLoad {
  double cores = 0;      // of this machine
  double others = 0;     // cores used by processes that are not ours, mean
  double starved = 0;    // share of time our servers wanted to run within their quota and could not
  bool trusted = false;  // quotas + others fit the cores
};
class LoadWatch {
 public:
  virtual ~LoadWatch() = default;
  virtual void sample() = 0;  // every second or so
  virtual MachineLoad load() const = 0;
};
std::unique_ptr<LoadWatch> watch_load(const Servers& servers, double quota_cores);

}  // namespace orrery
