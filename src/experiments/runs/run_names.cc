#include "experiments/runs/run_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/output_file.h"

namespace orrery {

void make_distinct(std::vector<std::string>& names,
                   std::string (*suffixed)(const std::string& name, int number)) {
  std::set<std::string> taken(names.begin(), names.end());
  std::set<std::string> seen;
  for (std::string& name : names) {
    if (seen.insert(name).second) continue;
    std::string other = name;
    for (int number = 2; taken.contains(other); ++number) other = suffixed(name, number);
    taken.insert(other);
    seen.insert(other);
    name = std::move(other);
  }
}

std::vector<std::string> distinct_trace_names(std::span<const std::string> arguments,
                                              std::span<const std::string> names) {
  std::vector<std::string> result(names.begin(), names.end());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const bool shared =
        std::ranges::count(names, names[i]) > 1 &&
        std::ranges::count(arguments, arguments[i]) < std::ranges::count(names, names[i]);
    if (shared) result[i] = std::filesystem::path(arguments[i]).replace_extension().string();
  }
  make_distinct(result, [](const std::string& name, int number) {
    return fmt::format("{} ({})", name, number);
  });
  return result;
}

Result<std::vector<std::string>> event_log_paths(const std::string& path,
                                                 std::span<const std::string> run_names) {
  const std::vector<std::string> same(run_names.size(), path);
  if (path.empty() || run_names.size() < 2) return same;
  std::error_code problem;
  if (std::filesystem::is_character_file(path, problem)) return same;  // such as /dev/null
  if (is_special_file(path)) {
    return invalid(fmt::format(
        "--events {}: {} runs would write into one pipe; name one trace, policy and seed", path,
        run_names.size()));
  }
  const auto slash = path.rfind('/');
  const auto dot = path.find('.', slash == std::string::npos ? 0 : slash + 1);
  const std::string stem = path.substr(0, dot);
  const std::string ending = dot == std::string::npos ? "" : path.substr(dot);
  std::vector<std::string> names(run_names.begin(), run_names.end());
  for (std::string& name : names) {
    std::ranges::replace_if(
        name, [](char c) { return c == '/' || c == ' '; }, '_');
  }
  make_distinct(names, [](const std::string& name, int number) {
    return fmt::format("{}-{}", name, number);
  });
  for (std::string& name : names) name = fmt::format("{}-{}{}", stem, name, ending);
  return names;
}

}  // namespace orrery
