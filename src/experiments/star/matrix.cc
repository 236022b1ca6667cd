#include "experiments/star/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery {

std::string_view embedded_one_slow_txt();
std::string_view embedded_on_off_txt();
std::string_view embedded_random_walk_txt();
std::string_view embedded_bandwidth_cut_txt();

std::span<const TrialWorkload> trial_workloads() {
  static const std::array<TrialWorkload, 2> all = {{
      {"mnist-cnn",
       "0.95",
       "12000",
       "300s",
       {"--model", "cnn", "--data", "mnist", "--batch", "1024", "--rate", "0.1", "--evaluate-every",
        "12288"}},
      {"text-lstm",
       "0.33",
       "12000",
       "300s",
       {"--model", "lstm", "--data", "text:moby-dick.txt", "--batch", "128", "--rate", "2",
        "--evaluate-every", "1536"}},
  }};
  return all;
}

std::span<const TrialPattern> trial_patterns() {
  static const std::array<TrialPattern, 5> all = {{
      {"none", "", false},
      {"one-slow", embedded_one_slow_txt(), true},
      {"on-off", embedded_on_off_txt(), false},
      {"random-walk", embedded_random_walk_txt(), false},
      {"bandwidth-cut", embedded_bandwidth_cut_txt(), true},
  }};
  return all;
}

std::span<const TrialMode> trial_modes(std::string_view architecture) {
  static const std::vector<TrialMode> servers = {
      {"ssgd", TrialRole::Fixed, {"--mode", "ssgd"}},
      {"asgd", TrialRole::Fixed, {"--mode", "asgd"}},
      {"static-7", TrialRole::Fixed, {"--mode", "static-x", "--x", "7"}},
      {"static-4", TrialRole::Fixed, {"--mode", "static-x", "--x", "4"}},
      {"dynamic", TrialRole::Fixed, {"--mode", "dynamic"}},
      {"ssp", TrialRole::Fixed, {"--mode", "ssp", "--x", "4"}},
      {"lb-bsp", TrialRole::Rival, {"--mode", "lb-bsp"}},
      {"lgc", TrialRole::Rival, {"--mode", "lgc", "--x", "6"}},
      {"sync-switch", TrialRole::Rival, {"--mode", "sync-switch", "--steps", "6000"}},
      {"zeno++", TrialRole::Rival, {"--mode", "zeno++"}},
      {"star", TrialRole::Star, {"--mode", "star"}},
  };
  static const std::vector<TrialMode> ring = {
      {"ssgd", TrialRole::Fixed, {"--mode", "ssgd"}},
      {"ring-7", TrialRole::Fixed, {"--mode", "ring", "--x", "7"}},
      {"ring-4", TrialRole::Fixed, {"--mode", "ring", "--x", "4"}},
      {"ring-2", TrialRole::Fixed, {"--mode", "ring", "--x", "2"}},
      {"lb-bsp", TrialRole::Rival, {"--mode", "lb-bsp"}},
      {"star", TrialRole::Star, {"--mode", "star"}},
  };
  return architecture == "ps" ? servers : ring;
}

std::string Trial::name() const {
  return fmt::format("{}-{}-{}-{}-{}-s{}", to_target ? "tta" : "final", workload->name,
                     architecture, pattern->name, mode->name, seed);
}

std::vector<std::string> Trial::command(const std::string& folder) const {
  std::vector<std::string> words = {"run", "--arch", std::string(architecture), "--workers", "8"};
  const auto add = [&](const std::vector<std::string_view>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  add(workload->settings);
  add(mode->settings);
  if (to_target) {
    // One evaluation may be lucky, five in a row are not.
    add({"--target", workload->target, "--target-over", "5"});
    add({"--time-limit", workload->time_limit});
  } else {
    add({"--steps", workload->gradients});
  }
  // So little that all workers' bursts together leave the cores free most of the time, and a link
  // on which a task's parameters and gradient take a part of its time.
  add({"--cores", "0.06", "--link", "20000000", "--quiet", "--json"});
  if (!pattern->script.empty()) {
    words.insert(words.end(), {"--stragglers", folder + "/stragglers.txt"});
  }
  words.insert(words.end(), {"--seed", fmt::to_string(seed), "--dir", folder + "/run"});
  return words;
}

namespace {

void add_cell(const TrialWorkload& workload, std::string_view architecture,
              const TrialPattern& pattern, std::uint64_t seed, const TrialChoice& choice,
              std::vector<Trial>& trials) {
  for (const TrialMode& mode : trial_modes(architecture)) {
    for (const bool to_target : {true, false}) {
      // How accurate a mode becomes in the end is asked of STAR, and held against ssgd.
      if (!to_target && mode.role != TrialRole::Star && mode.name != "ssgd") continue;
      if (!choice.figure.empty() && (choice.figure == "tta") != to_target) continue;
      const Trial trial{&workload, architecture, &pattern, &mode, seed, to_target};
      if (trial.name().find(choice.only) != std::string::npos) trials.push_back(trial);
    }
  }
}

}  // namespace

Result<std::vector<Trial>> choose_trials(const TrialChoice& choice) {
  if (!choice.figure.empty() && choice.figure != "tta" && choice.figure != "final") {
    return invalid(fmt::format(
        "--figure {}: of star there are tta, final and two-jobs; leave it out for the first two",
        choice.figure));
  }
  std::vector<Trial> trials;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(choice.seeds); ++seed) {
    for (const TrialWorkload& workload : trial_workloads()) {
      for (const std::string_view architecture : kTrialArchitectures) {
        for (const TrialPattern& pattern : trial_patterns()) {
          add_cell(workload, architecture, pattern, seed, choice, trials);
        }
      }
    }
  }
  if (trials.empty()) {
    return invalid(fmt::format("--only {}: no trial has this in its name; they are called like {}",
                               choice.only, "tta-mnist-cnn-ps-one-slow-star-s1"));
  }
  return trials;
}

}  // namespace orrery
