#include "workload/text/slurm_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workload/formats/row.h"

namespace orrery {
namespace {

constexpr std::int64_t kNodesMax = 1'000'000;

// Calls use(part) for each part between the commas.
template <class Use>
Status each_part(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    TRY(use(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

Result<std::int64_t> memory_within(double value_bytes, std::string_view text) {
  if (value_bytes <= kMemoryMax_gb * 1e9) return std::llround(value_bytes);
  return invalid(fmt::format("'{}' is more than {:.6g} GB", text.substr(0, 40), kMemoryMax_gb));
}

}  // namespace

Result<std::int64_t> parse_slurm_memory(std::string_view text) {
  constexpr std::string_view kUnits = "KMGTP";
  std::string_view number = text;
  std::size_t power = 2;
  if (!number.empty()) {
    if (const std::size_t unit = kUnits.find(number.back()); unit != std::string_view::npos) {
      power = unit + 1;
      number.remove_suffix(1);
    }
  }
  TRY_ASSIGN(const double value, parse_number(number, 0, 1e18));
  return memory_within(value * std::pow(1024.0, static_cast<double>(power)), text);
}

Result<std::int64_t> parse_required_memory(std::string_view text, std::int64_t nodes,
                                           std::int64_t cpus) {
  std::int64_t times = 1;
  std::string_view amount = text;
  if (text.ends_with('n') || text.ends_with('c')) {
    times = std::max<std::int64_t>(1, text.ends_with('n') ? nodes : cpus);
    amount.remove_suffix(1);
  }
  TRY_ASSIGN(const std::int64_t one, parse_slurm_memory(amount));
  return memory_within(static_cast<double>(one) * static_cast<double>(times), text);
}

Result<SlurmResources> parse_tres(std::string_view text) {
  static constexpr std::string_view kTyped = "gres/gpu:";
  SlurmResources resources;
  std::int64_t typed = 0;
  TRY(each_part(text, [&](std::string_view part) -> Status {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return invalid(fmt::format("'{}' is not a resource such as cpu=8", part.substr(0, 40)));
    }
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    if (key == "cpu") {
      TRY_ASSIGN(resources.cpus, parse_integer(value, 0, static_cast<std::int64_t>(kCpusMax)));
    } else if (key == "mem") {
      TRY_ASSIGN(resources.memory_bytes, parse_slurm_memory(value));
    } else if (key == "node") {
      TRY_ASSIGN(resources.nodes, parse_integer(value, 0, kNodesMax));
    } else if (key == "gres/gpu") {
      TRY_ASSIGN(resources.gpus, parse_integer(value, 0, kGpusMax));
    } else if (key.starts_with(kTyped)) {
      TRY_ASSIGN(const std::int64_t gpus, parse_integer(value, 0, kGpusMax));
      const std::string_view type = key.substr(kTyped.size());
      if (auto checked = check_name(type); !checked.ok()) return checked;
      resources.several_types |= !resources.gpu_type.empty() && resources.gpu_type != type;
      resources.gpu_type = type;
      typed = std::min(typed + gpus, kGpusMax);
    }
    return {};
  }));
  resources.gpus = std::max(resources.gpus, typed);
  if (resources.several_types) resources.gpu_type.clear();
  return resources;
}

Result<std::int64_t> parse_gres(std::string_view text) {
  std::int64_t gpus = 0;
  TRY(each_part(text, [&](std::string_view part) -> Status {
    if (part.starts_with("gres:") || part.starts_with("gres/")) part.remove_prefix(5);
    if (!part.starts_with("gpu")) return {};
    const std::size_t colon = part.rfind(':');
    if (colon == std::string_view::npos) {
      gpus = std::min(gpus + 1, kGpusMax);
      return {};
    }
    TRY_ASSIGN(const std::int64_t count, parse_integer(part.substr(colon + 1), 0, kGpusMax));
    gpus = std::min(gpus + count, kGpusMax);
    return {};
  }));
  return gpus;
}

}  // namespace orrery
