#include "commands/input_files.h"

#include <filesystem>

#include "workload/trace.h"

namespace orrery {

void add_inputs(std::vector<NamedFile>& files, std::string_view option, const std::string& path) {
  std::error_code problem;
  if (path.empty()) return;
  if (!std::filesystem::is_directory(path, problem)) {
    files.push_back({std::string(option), path});
    return;
  }
  for (std::filesystem::directory_iterator entry(path, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    if (entry->path().extension() == ".csv") {
      files.push_back({std::string(option), entry->path().string()});
    }
  }
}

std::vector<NamedFile> inputs_of(const SimulateArguments& arguments) {
  std::vector<NamedFile> files;
  for (const std::string& trace : arguments.traces) {
    files.push_back({"--trace", file_of_trace(trace)});
  }
  for (const std::string& cluster : arguments.clusters) files.push_back({"--cluster", cluster});
  add_inputs(files, "--profiles", arguments.profiles);
  files.push_back({"--faults", arguments.scenario.faults});
  for (const std::string& zone : arguments.scenario.spot) files.push_back({"--spot", zone});
  return files;
}

Status check_report(const std::string& report, std::span<const NamedFile> inputs) {
  const NamedFile output{"--report", report};
  return check_outputs({&output, 1}, inputs);
}

}  // namespace orrery
