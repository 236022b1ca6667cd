#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiments/figures/reproduce_arguments.h"
#include "experiments/runs/scenario.h"
#include "model/time.h"
#include "report/listing/list_arguments.h"

namespace orrery {

// The arguments of each command, and the command. Texts are checked by the command that uses them,
// so that each message can say what would be right.

struct SimulateArguments {
  std::vector<std::string> traces{};    // files, or MODEL:key=value,...
  std::vector<std::string> policies{};  // NAME or NAME:key=value:key=value...
  std::vector<std::string> clusters{};  // one for all traces, or one for each
  std::string trace_format = "auto";
  std::string profiles{};  // file or folder of speed profiles; empty: jobs are rigid
  std::string gpu_type{};
  std::string semantics = "orrery";
  std::vector<std::string> options{};  // key=value, for every policy that knows the key
  std::vector<std::uint64_t> seeds = {0};
  double speed_error = 0;    // real speeds differ from profiles by at most this part
  std::string round{};       // a duration; empty: rounds are held at once
  std::string window{};      // A-B: metrics over these jobs only
  ScenarioTexts scenario{};  // nodes that come and go
  std::int64_t limit = 0;
  std::string events{};  // files
  std::string report{};
  std::string jobs_csv{};
  int threads = 0;  // 0: as many as there are cores
  bool json = false;
  bool csv = false;
  bool quiet = false;
};
Status simulate_command(const SimulateArguments& arguments);

struct GenerateArguments {
  std::string model{};
  std::map<std::string, std::string> options{};
  std::string output{};  // empty: standard output
  std::string format{};  // csv, jsonl, elasticflow or synergy; empty: by the name of the output
};
Status generate_command(const GenerateArguments& arguments);

// Without a form asked for: for people, with all options.
Status policies_command(const ListArguments& arguments);

struct TracesArguments {
  std::string trace{};  // what to look at; empty: list the formats and generators
  std::string trace_format = "auto";
  std::string profiles{};
  std::string gpu_type{};
  std::int64_t limit = 0;
  ListArguments list{};
};
Status traces_command(const TracesArguments& arguments);

struct DemoArguments {
  std::string report = "orrery-demo.html";
  bool json = false;
  bool quiet = false;
};
Status demo_command(const DemoArguments& arguments);

Status reproduce_command(const ReproduceArguments& arguments);

}  // namespace orrery
