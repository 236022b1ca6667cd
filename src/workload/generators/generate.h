#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/job.h"
#include "workload/trace.h"

namespace orrery {

struct GeneratorOption {
  std::string_view name;
  std::string_view default_value;
  std::string_view meaning;
};

struct Generator {
  std::string_view name;
  std::string_view summary;
  std::span<const GeneratorOption> options;
};

// The models a workload can be drawn from.
std::span<const Generator> generators();

// Draws a workload. The same model and options, the seed among them, give the same jobs on every
// machine. Options left out have their defaults.
Result<Workload> generate(std::string_view model,
                          const std::map<std::string, std::string>& options);

// True if the word names a generator without a number of jobs that can make ever more of them;
// TraceOptions::drawn is then the number.
bool goes_on(const std::string& argument);

// True if the word names a generator that has the option, and gives no value for it.
bool lacks_option(const std::string& argument, std::string_view option);

// The word with a value for an option that it lacks.
std::string with_option(const std::string& argument, std::string_view option,
                        std::string_view value);

// A workload by one word: the name of a trace file, or MODEL or MODEL:key=value,... for generate().
// A file of exactly that name wins. The limit of `options` holds for both.
Result<Workload> load_workload(const std::string& argument, const TraceOptions& options = {});

}  // namespace orrery
