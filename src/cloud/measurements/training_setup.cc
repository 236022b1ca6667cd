#include "cloud/measurements/training_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>

#include "base/plain_text.h"

namespace orrery {
namespace {

constexpr std::string_view kExperiments[] = {"k80_on_demand",           "k80_spot",
                                             "p100_v100_spot",          "experiment_mixed_gpu",
                                             "experiment_cross_region", "experiment_1ps_vs_2ps"};
constexpr int kWorkersMax = 1000;

// A number at the front of `text`, which loses it; nothing if there is none.
std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    value = std::min(kWorkersMax + 1, value * 10 + (text[digits++] - '0'));
  }
  if (digits == 0 || value > kWorkersMax) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

std::optional<std::size_t> gpu_of_letter(char letter) {
  const std::size_t at = std::string_view("kpv").find(letter);
  return at == std::string_view::npos ? std::nullopt : std::optional(at);
}

// "4p100", "v100", "k80", with one as the number that is not written.
bool parse_homogeneous(std::string_view text, TrainingSetup& setup) {
  const int count = take_number(text).value_or(1);
  for (std::size_t gpu = 0; gpu < 3; ++gpu) {
    constexpr std::string_view kNames[] = {"k80", "p100", "v100"};
    if (text != kNames[gpu]) continue;
    setup.workers[gpu] = count;
    setup.parameter_servers = count > 1;
    return true;
  }
  return false;
}

// "8-spot", "2-demand" and "k80-demand" for one.
bool parse_k80(std::string_view text, std::string_view end, TrainingSetup& setup) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  std::string name(text);
  return parse_homogeneous(name == "k80" ? name : name + "k80", setup);
}

// "1v1p2k"
bool parse_mixed(std::string_view text, TrainingSetup& setup) {
  while (!text.empty()) {
    const auto count = take_number(text);
    const auto gpu = text.empty() ? std::nullopt : gpu_of_letter(text.front());
    if (!count || !gpu) return false;
    text.remove_prefix(1);
    setup.workers[*gpu] += *count;
  }
  setup.parameter_servers = 1;
  return setup.workers_total() > 0;
}

// "2e1c1w", "3e1c-p100"
bool parse_cross_region(std::string_view text, TrainingSetup& setup) {
  std::size_t gpu = 0;
  if (text.ends_with("-p100")) gpu = 1, text.remove_suffix(5);
  setup.by_region.assign(3, 0);
  while (!text.empty()) {
    const auto count = take_number(text);
    const auto region =
        text.empty() ? std::string_view::npos : std::string_view("ecw").find(text.front());
    if (!count || region == std::string_view::npos) return false;
    text.remove_prefix(1);
    setup.by_region[region] += *count;
    setup.workers[gpu] += *count;
  }
  setup.parameter_servers = 1;
  return setup.workers_total() > 0;
}

// "2ps4v"
bool parse_servers(std::string_view text, TrainingSetup& setup) {
  const auto servers = take_number(text);
  if (!servers || !text.starts_with("ps")) return false;
  text.remove_prefix(2);
  const auto count = take_number(text);
  const auto gpu = text.size() == 1 ? gpu_of_letter(text.front()) : std::nullopt;
  if (!count || *count == 0 || !gpu) return false;
  setup.workers[*gpu] = *count;
  setup.parameter_servers = *servers;
  return true;
}

bool parse_name(TrainingSetup& setup) {
  if (setup.experiment == "k80_on_demand") return parse_k80(setup.name, "-demand", setup);
  if (setup.experiment == "k80_spot") return parse_k80(setup.name, "-spot", setup);
  if (setup.experiment == "p100_v100_spot") return parse_homogeneous(setup.name, setup);
  if (setup.experiment == "experiment_mixed_gpu") return parse_mixed(setup.name, setup);
  if (setup.experiment == "experiment_cross_region") return parse_cross_region(setup.name, setup);
  return parse_servers(setup.name, setup);
}

}  // namespace

std::string_view text_of(MeasuredGpu gpu) {
  constexpr std::string_view kTexts[] = {"K80", "P100", "V100"};
  return kTexts[static_cast<std::size_t>(gpu)];
}

Result<TrainingSetup> parse_setup(std::string_view config) {
  const std::size_t slash = config.rfind('/');
  TrainingSetup setup;
  if (slash != std::string_view::npos) {
    setup.experiment = config.substr(0, slash);
    setup.name = config.substr(slash + 1);
  }
  setup.on_demand = setup.experiment == "k80_on_demand";
  const bool known = std::ranges::find(kExperiments, setup.experiment) != std::end(kExperiments);
  if (known && parse_name(setup)) return setup;
  return invalid(
      fmt::format("'{}' names no configuration of the published runs; the experiments "
                  "are {}",
                  plain_text(config.substr(0, 80)), fmt::join(kExperiments, ", ")));
}

bool stands_before(const TrainingSetup& left, const TrainingSetup& right) {
  const auto order = [](const TrainingSetup& setup) {
    const auto experiment = std::ranges::find(kExperiments, setup.experiment);
    const auto regions = 3 - std::ranges::count(setup.by_region, 0);
    // In the comparison of parameter servers the published tables begin with the V100.
    const bool by_servers = setup.experiment == "experiment_1ps_vs_2ps";
    const int gpu = setup.workers[2] > 0 ? 2 : setup.workers[1] > 0 ? 1 : 0;
    return std::tuple(experiment - std::begin(kExperiments), setup.workers_total(),
                      setup.by_region.empty() ? 0 : regions,
                      setup.by_region.empty() ? 0 : -setup.by_region[0], by_servers ? -gpu : gpu,
                      setup.parameter_servers, setup.workers[2], setup.workers[1], setup.name);
  };
  return order(left) < order(right);
}

}  // namespace orrery
