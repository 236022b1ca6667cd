#include "experiments/figures/synergy_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>

#include "scheduling/policy/registry.h"

namespace orrery::synergy {
namespace {

using Names = std::vector<std::string_view>;

const Names kAllOrders = {"fifo", "srtf", "las", "ftf", "drf", "tetris"};
const Names kSweptOrders = {"fifo", "srtf", "las"};
const Names kSwept = {"proportional", "tune", "tune+"};

// Those of the wanted that this build has; all there are if none is named.
Names built(const Names& wanted = {}) {
  Names names;
  for (const AllocatorInfo& allocator : allocators()) {
    const bool named = std::ranges::find(wanted, allocator.name) != wanted.end();
    if (named || wanted.empty()) names.push_back(allocator.name);
  }
  return names;
}

std::string synthetic(double load, std::string_view gpus, std::string_view split, int first,
                      int end) {
  return fmt::format("{:.1f};{};{};{}-{};16x8;synthetic", load, gpus, split, first, end);
}

Setting replay(std::string_view trace, bool at_once) {
  constexpr std::string_view kNames = ";single;;all;4x8;deploy_trace/{}{}";
  return {.label = "100 jobs",
          .trace = std::string(trace),
          .cluster = "static_trace.ini",
          .at_once = at_once,
          .reference = fmt::format(kNames, trace, at_once ? " (static)" : "")};
}

Setting loaded(double load, std::string_view gpus, int first, int end) {
  constexpr std::string_view kSplit = "20/70/10";
  return {.label = fmt::format("{:g}", load),
          .x = load,
          .trace = fmt::format("gpus={},split={}", gpus, kSplit),
          .load = load,
          .cluster = "default_cluster.ini",
          .first = first,
          .end = end,
          .reference = synthetic(load, gpus, kSplit, first, end)};
}

// The published window; earlier ones where the released code was run with them.
constexpr int kFirst = 4000;
constexpr int kEnd = 5000;

Setting check(double load, std::string_view gpus, int first, int end) {
  Setting setting = loaded(load, gpus, first, end);
  setting.label = fmt::format("{:g} ({} on)", load, first);
  setting.check = true;
  return setting;
}

std::vector<Setting> loads(std::string_view gpus) {
  std::vector<Setting> settings;
  for (int load = 1; load <= 9; ++load) settings.push_back(loaded(load, gpus, kFirst, kEnd));
  return settings;
}

std::vector<Setting> with(std::vector<Setting> settings, Setting more) {
  settings.push_back(std::move(more));
  return settings;
}

std::vector<Setting> splits() {
  std::vector<Setting> settings;
  for (const std::string_view split : {"20/70/10", "33/33/33", "50/0/50"}) {
    Setting& setting = settings.emplace_back(loaded(4, "multi", kFirst, kEnd));
    setting.label = split;
    setting.x = 0;
    setting.trace = fmt::format("gpus=multi,split={}", split);
    setting.reference = synthetic(4, "multi", split, kFirst, kEnd);
  }
  return settings;
}

std::vector<Setting> ratios() {
  std::vector<Setting> settings;
  for (int cpus = 3; cpus <= 6; ++cpus) {
    Setting& setting = settings.emplace_back(loaded(4, "multi", kFirst, kEnd));
    setting.label = fmt::format("{}", cpus);
    setting.x = cpus;
    if (cpus == 3) continue;
    setting.trace += fmt::format(",cpus-per-gpu={}", cpus);
    setting.cluster = fmt::format("cluster_{}.ini", cpus);
    setting.reference.clear();
  }
  return settings;
}

std::vector<Figure> replays() {
  constexpr std::string_view kStatic = "static_100job_6_3_1100.0";
  constexpr std::string_view kDynamic = "dynamic/srtf.log";
  using enum Metric;
  return {{.name = "static",
           .title = "100 jobs that are all there at the start, 32 GPUs",
           .note = "",
           .axis = "",
           .orders = kAllOrders,
           .allocators = built(),
           .metrics = {Makespan, AvgJct},
           .settings = {replay(kStatic, true)}},
          {.name = "dynamic",
           .title = "100 jobs that come within 3.3 hours, 32 GPUs",
           .note = "",
           .axis = "",
           .orders = kAllOrders,
           .allocators = built(),
           .metrics = {AvgJct, P99Jct},
           .settings = {replay(kDynamic, false)}},
          {.name = "use",
           .title = "GPUs, CPUs and memory held in the static replay, 32 GPUs",
           .note = "Means over the run; a report shows them over time.",
           .axis = "",
           .orders = {"fifo"},
           .allocators = built(),
           .metrics = {GpuUse, CpuUse, MemoryUse},
           .settings = {replay(kStatic, true)}}};
}

std::vector<Figure> sweeps() {
  using enum Metric;
  return {{.name = "7",
           .title = "load, jobs of 1 to 8 GPUs, 128 GPUs",
           .note = "Over jobs 4000 to 4999.",
           .axis = "jobs an hour",
           .orders = kSweptOrders,
           .allocators = built(kSwept),
           .metrics = {AvgJct},
           .settings = with(loads("multi"), check(4, "multi", 300, 500))},
          {.name = "8",
           .title = "load, jobs of 1 GPU, 128 GPUs",
           .note = "Over jobs 4000 to 4999.",
           .axis = "jobs an hour",
           .orders = kSweptOrders,
           .allocators = built(kSwept),
           .metrics = {AvgJct, P99Jct},
           .settings = with(loads("single"), check(9, "single", 1500, 1700))},
          {.name = "9",
           .title = "per cent of image/language/speech models, 128 GPUs",
           .note = "4 jobs an hour, over jobs 4000 to 4999.",
           .axis = "split",
           .orders = kSweptOrders,
           .allocators = built(kSwept),
           .metrics = {AvgJct},
           .settings = splits()},
          {.name = "ratios",
           .title = "CPUs for each GPU, 128 GPUs",
           .note = "4 jobs an hour, over jobs 4000 to 4999.",
           .axis = "CPUs for each GPU",
           .orders = kSweptOrders,
           .allocators = built(kSwept),
           .metrics = {AvgJct},
           .settings = ratios()},
          {.name = "12",
           .title = "DRF and Tetris, 128 GPUs",
           .note = "Jobs of 1 to 8 GPUs, 4 an hour, over jobs 300 to 499 and 4000 to 4999.",
           .axis = "",
           .orders = {"drf", "tetris"},
           .allocators = built({"greedy", "tune", "tune+"}),
           .metrics = {AvgJct, P99Jct},
           .settings = {check(4, "multi", 300, 500), check(4, "multi", kFirst, kEnd)}}};
}

std::vector<Figure> all_figures() {
  std::vector<Figure> all = replays();
  std::ranges::move(sweeps(), std::back_inserter(all));
  return all;
}

}  // namespace

std::string_view metric_key(Metric metric) {
  static constexpr std::array<std::string_view, 6> kKeys = {
      "avg_jct_h", "p99_jct_h", "makespan_h", "gpu_use_pct", "cpu_use_pct", "memory_use_pct"};
  return kKeys[static_cast<std::size_t>(metric)];
}

std::string_view metric_title(Metric metric) {
  static constexpr std::array<std::string_view, 6> kTitles = {
      "average completion time, hours",
      "99th percentile of completion times, hours",
      "makespan, hours",
      "GPUs held, per cent",
      "CPUs held, per cent",
      "memory held, per cent"};
  return kTitles[static_cast<std::size_t>(metric)];
}

bool is_share(Metric metric) { return metric >= Metric::GpuUse; }

std::int64_t Setting::jobs() const {
  return end + static_cast<std::int64_t>(std::ceil(load * kArrivalsAfter_h));
}

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all = all_figures();
  return all;
}

std::string heading(const Figure& figure) {
  const auto letter = static_cast<unsigned char>(figure.name.front());
  if (std::isdigit(letter) != 0) return fmt::format("Figure {}", figure.name);
  std::string name(figure.name);
  name.front() = static_cast<char>(std::toupper(letter));
  return name;
}

std::optional<double> published(const Figure& figure, const Setting& setting,
                                std::string_view policy, Metric metric) {
  if (figure.name != "8" || setting.label != "9" || policy != "fifo+tune") return std::nullopt;
  if (metric == Metric::AvgJct) return 21.877;
  if (metric == Metric::P99Jct) return 156.933;
  return std::nullopt;
}

const std::vector<Claim>& claims() {
  using enum Metric;
  static const std::vector<Claim> all = {
      {"static replay under FIFO, makespan", "static", 1.4, "fifo", "100 jobs", "proportional",
       "tune", Makespan},
      {"dynamic replay under SRTF, average JCT", "dynamic", 1.5, "srtf", "100 jobs", "proportional",
       "tune", AvgJct},
      {"average JCT, best case, jobs of 1 GPU", "8", 3.4, "", "", "proportional", "tune", AvgJct},
      {"tune from opt, static replay, average JCT", "static", 1.1, "", "", "tune", "opt", AvgJct},
      {"tune from opt, dynamic replay, average JCT", "dynamic", 1.1, "", "", "tune", "opt", AvgJct},
  };
  return all;
}

}  // namespace orrery::synergy
