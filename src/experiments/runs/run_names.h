#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace orrery {

// Makes all names different. The first of several equal names stays; `suffixed` makes the others
// from the name and the number of its occurrence, from 2 on.
void make_distinct(std::vector<std::string>& names,
                   std::string (*suffixed)(const std::string& name, int number));

// What the traces of one command are called. A trace keeps its own name while no other trace has
// it. Files of one name in several folders are called by the path as given, without the ending; a
// file given twice gets a number.
std::vector<std::string> distinct_trace_names(std::span<const std::string> arguments,
                                              std::span<const std::string> names);

// The event log of each run: for one run the file itself. For several, the name of the run stands
// before the ending: runs.jsonl.zst becomes runs-trace3-las.jsonl.zst. No two are the same file.
// Fails for several runs where the path is a pipe, in which their lines would mix.
Result<std::vector<std::string>> event_log_paths(const std::string& path,
                                                 std::span<const std::string> run_names);

}  // namespace orrery
