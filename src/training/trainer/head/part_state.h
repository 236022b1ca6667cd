#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "training/trainer/transport/connection.h"
#include "training/trainer/transport/messages.h"

namespace orrery {

std::string_view role_name(PartRole role);

// What the head knows of another process of the run.
struct PartState {
  PartRole role{};
  int id = -1;
  int slot = -1;    // of a worker: its place among the workers; -1: it joined by itself
  int server = -1;  // the emulated server it runs on; -1: none
  int place = 0;    // the least that no other worker on this machine has: GPUs go by it
  pid_t pid = 0;    // 0: not started by this head
  std::shared_ptr<Connection> line{};
  bool ready = false;
  bool admitted = false;   // it has the addresses of its peers
  bool joined = false;     // the Conductor counts on it
  bool dismissed = false;  // its end is no loss
  std::string address{};
  std::uint16_t port = 0;
  std::string gpu{};                   // its name, the same in all processes
  double way_s = 0, way_before_s = 0;  // of all parameters over its link, by the last two probes
  int probes = 0;                      // that were sent
  ShardHolding held{};                 // of a shard: when it came
};

}  // namespace orrery
