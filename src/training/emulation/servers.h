#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/time.h"
#include "training/emulation/straggler_script.h"

namespace orrery {

// What one emulated server has: a share of the cores and a link.
struct EmulatedSize {
  double cores = 0.2;
  double bytes_per_s = 0;  // 0: no limit
};

struct ServerUse {
  double cpu_s = 0;        // used so far
  double throttled_s = 0;  // by its quota, so far
  double in_bytes = 0, out_bytes = 0;
};

// Emulated servers on one machine, each with a fixed CPU quota and a link, so that several trainers
// on few cores are independent of each other (specs/star.md 7.3). The best means that the machine
// allows is taken, for CPU and for the link apart, and named: "cgroup-v1", "cgroup-v2",
// "duty-cycle" (SIGSTOP and SIGCONT); "tbf" (a network namespace for each server), "token-bucket"
// (in the transport); "none". Everything is undone when the object goes, also after errors;
// processes that still run then are free again. Not for several threads at once.
class Servers {
 public:
  virtual ~Servers() = default;

  virtual int count() const = 0;
  virtual const EmulatedSize& size(int server) const = 0;
  virtual std::string cpu_means() const = 0;
  virtual std::string link_means() const = 0;
  // Puts a process on a server. Called in the parent right after the fork, before anything of
  // weight runs in it.
  virtual Status add(int server, pid_t pid) = 0;
  // The command that runs `command` within the server's network, if that takes one. It keeps its
  // process number.
  virtual std::vector<std::string> inside(int server, std::vector<std::string> command) const = 0;
  // The address by which others reach a process on that server.
  virtual std::string address(int server) const = 0;
  // The address by which those on servers reach a process that is on none.
  virtual std::string outside_address() const = 0;
  // From now on. Shares stay what they are, of the new size; a link that had no rate gets none, and
  // where a resource has no means it is only noted.
  virtual Status set_size(int server, const EmulatedSize& size) = 0;
  // Of what its size says. A link without a rate cannot be cut.
  virtual Status set_share(int server, ServerResource resource, double share) = 0;
  // For "token-bucket": the rate the transport has to keep to now; 0: no limit.
  virtual double transport_bytes_per_s(int server) const = 0;
  // Bytes are known for "tbf" alone, and 0 otherwise.
  virtual Result<ServerUse> use(int server) const = 0;
  // How long it has waited for a core so far although its quota allowed it to run. Takes longer
  // than use().
  virtual Result<double> starved_s(int server) const = 0;
};

struct ServersOptions {
  std::vector<EmulatedSize> sizes{};
  std::string cpu = "auto";   // or the name of one of the means; "none"
  std::string link = "auto";  // without any rate to keep to: "none"
  std::string cgroup{};       // the folder in which cgroups are made; empty: the one we are in
};
// Removes what killed runs have left on this machine first.
Result<std::unique_ptr<Servers>> make_servers(const ServersOptions& options);

// True figures need a machine that always has the cores for all quotas: what others used.
struct MachineLoad {
  double cores = 0;     // of this machine
  double others = 0;    // cores used by processes on none of our servers nor this one, mean
  double own = 0;       // cores used by this process, mean
  double starved = 0;   // share of time our servers wanted to run within their quota and could not
  double overfull = 0;  // share of time in which quotas, others and this process exceeded the cores
  double excess = 0;    // the most that a server got beyond its quota, as a share of the quota
  bool trusted = false;  // the quotas fitted nearly all the time, and were kept
  std::string why{};     // if it is not
};
class LoadWatch {
 public:
  virtual ~LoadWatch() = default;
  virtual void sample() = 0;  // every second or so
  virtual MachineLoad load() const = 0;
};
// Counts from now on. `quota_cores` is what all servers together have; the servers outlive it.
std::unique_ptr<LoadWatch> watch_load(const Servers& servers, double quota_cores);

}  // namespace orrery
