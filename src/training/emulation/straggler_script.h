#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

enum class ServerResource { Cpu, Bandwidth };

// From `at` on, the server has this share of its normal CPU or link: 1 is normal.
struct StragglerStep {
  Time at{};
  int server = 0;
  ServerResource resource = ServerResource::Cpu;
  double share = 1;
};

// When which server is slow, and how. Steps ascend by time; the file may also hold patterns
// (on-off, random walk with a seed) that are written out to steps when it is read, so that the same
// file gives the same steps everywhere, in real runs and in the twin. Format:
// docs/formats/stragglers.md.
struct StragglerScript {
  std::string name{};
  std::vector<StragglerStep> steps{};
};

// `seed` moves what is random in it. Errors are file:line.
Result<StragglerScript> read_straggler_script(const std::string& path, int servers,
                                              std::uint64_t seed, Duration horizon);
Result<StragglerScript> parse_straggler_script(const std::string& text, const std::string& place,
                                               int servers, std::uint64_t seed, Duration horizon);

// The share of a server's resource at a time.
double share_at(const StragglerScript& script, Time at, int server, ServerResource resource);

}  // namespace orrery
