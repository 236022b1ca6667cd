#include "training/sync/mode.h"

#include <algorithm>
#include <array>

#include "base/nearest_word.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 7> kNames = {"ssgd", "asgd",   "static", "ssp",
                                                    "lgc",  "zeno++", "ring"};

std::string sizes_text(const Mode& mode, int workers) {
  std::vector<std::size_t> sizes;
  std::size_t named = 0;
  for (const auto& group : mode.groups) {
    if (group.empty()) continue;
    sizes.push_back(group.size());
    named += group.size();
  }
  for (auto alone = named; alone < static_cast<std::size_t>(std::max(0, workers)); ++alone) {
    sizes.push_back(1);
  }
  std::ranges::sort(sizes, std::greater{});
  std::string text;
  for (const std::size_t size : sizes) text += (text.empty() ? "" : ",") + std::to_string(size);
  return "dynamic-{" + text + "}";
}

std::string ring_text(const Mode& mode, int workers) {
  const int ring = mode.ring.empty() ? workers : static_cast<int>(mode.ring.size());
  const int children = std::max(0, workers - ring);
  return "ring-" + std::to_string(ring) + (children > 0 ? "+" + std::to_string(children) : "");
}

std::string tree_text(const Mode& mode, int workers) {
  const int children = static_cast<int>(mode.parents.size());
  if (children == 0 || mode.rule == SyncRuleKind::Ring) return "";
  return "+tree-" + std::to_string(std::max(0, workers - children)) + "+" +
         std::to_string(children);
}

}  // namespace

std::string mode_name(const Mode& mode, int workers) {
  const bool all = mode.x <= 0 || mode.x >= workers;
  std::string name;
  switch (mode.rule) {
    case SyncRuleKind::Static:
      if (all && !mode.shares.empty()) return "lb-bsp" + tree_text(mode, workers);
      name = all ? "ssgd" : mode.x == 1 ? "asgd" : "static-" + std::to_string(mode.x);
      break;
    case SyncRuleKind::Dynamic:
      name = sizes_text(mode, workers);
      break;
    case SyncRuleKind::Ssp:
      name = "ssp-" + std::to_string(mode.bound);
      break;
    case SyncRuleKind::Lgc:
      name = "lgc-" + std::to_string(all ? workers : mode.x);
      break;
    case SyncRuleKind::ZenoPlus:
      name = "zeno++";
      break;
    case SyncRuleKind::Ring:
      name = ring_text(mode, workers);
      break;
  }
  return (mode.shares.empty() ? name : name + "+shares") + tree_text(mode, workers);
}

bool names_workers(const Mode& mode) {
  return !mode.groups.empty() || !mode.ring.empty() || !mode.parents.empty() ||
         !mode.shares.empty();
}

bool waits_for_all(const Mode& mode, int workers) {
  if (mode.rule == SyncRuleKind::Static) return mode.x <= 0 || mode.x >= workers;
  return mode.rule == SyncRuleKind::Ring &&
         (mode.ring.empty() || static_cast<int>(mode.ring.size()) >= workers);
}

Result<Mode> fixed_mode(std::string_view name, int x, int workers) {
  const auto in_range = [&](std::string_view what) -> Status {
    if (x >= 1 && x <= workers) return {};
    return invalid("mode " + std::string(name) + ": --x is " + std::to_string(x) + ", but " +
                   std::string(what) + " is 1 to the number of workers, " +
                   std::to_string(workers));
  };
  if (name == "ssgd") return Mode{};
  if (name == "asgd") return Mode{.x = 1};
  if (name == "static") {
    TRY(in_range("the number of gradients an update"));
    return Mode{.x = x};
  }
  if (name == "lgc") {
    TRY(in_range("the number of workers that an update waits for"));
    return Mode{.rule = SyncRuleKind::Lgc, .x = x};
  }
  if (name == "ssp") {
    if (x < 0) return invalid("mode ssp: --x is the bound, in tasks, and not below 0");
    return Mode{.rule = SyncRuleKind::Ssp, .bound = x};
  }
  if (name == "zeno++") return Mode{.rule = SyncRuleKind::ZenoPlus};
  if (name == "ring") return Mode{.rule = SyncRuleKind::Ring};
  return invalid("no mode '" + std::string(name) + "'; nearest is " +
                 std::string(nearest_word(name, kNames)));
}

}  // namespace orrery
