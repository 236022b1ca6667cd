#include "experiments/star/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery {

std::string_view embedded_one_slow_txt();
std::string_view embedded_on_off_txt();
std::string_view embedded_random_walk_txt();
std::string_view embedded_bandwidth_cut_txt();

std::span<const MatrixWorkload> matrix_workloads() {
  static const std::array<MatrixWorkload, 2> all = {{
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

std::span<const MatrixPattern> matrix_patterns() {
  static const std::array<MatrixPattern, 5> all = {{
      {"none", "", false},
      {"one-slow", embedded_one_slow_txt(), true},
      {"on-off", embedded_on_off_txt(), false},
      {"random-walk", embedded_random_walk_txt(), false},
      {"bandwidth-cut", embedded_bandwidth_cut_txt(), true},
  }};
  return all;
}

std::span<const MatrixMode> matrix_modes(std::string_view architecture) {
  static const std::vector<MatrixMode> servers = {
      {"ssgd", ModeRole::Fixed, {"--mode", "ssgd"}},
      {"asgd", ModeRole::Fixed, {"--mode", "asgd"}},
      {"static-7", ModeRole::Fixed, {"--mode", "static-x", "--x", "7"}},
      {"static-4", ModeRole::Fixed, {"--mode", "static-x", "--x", "4"}},
      {"dynamic", ModeRole::Fixed, {"--mode", "dynamic"}},
      {"ssp", ModeRole::Fixed, {"--mode", "ssp", "--x", "4"}},
      {"lb-bsp", ModeRole::Rival, {"--mode", "lb-bsp"}},
      {"lgc", ModeRole::Rival, {"--mode", "lgc", "--x", "6"}},
      {"sync-switch", ModeRole::Rival, {"--mode", "sync-switch", "--steps", "6000"}},
      {"zeno++", ModeRole::Rival, {"--mode", "zeno++"}},
      {"star", ModeRole::Star, {"--mode", "star"}},
  };
  static const std::vector<MatrixMode> ring = {
      {"ssgd", ModeRole::Fixed, {"--mode", "ssgd"}},
      {"ring-7", ModeRole::Fixed, {"--mode", "ring", "--x", "7"}},
      {"ring-4", ModeRole::Fixed, {"--mode", "ring", "--x", "4"}},
      {"ring-2", ModeRole::Fixed, {"--mode", "ring", "--x", "2"}},
      {"lb-bsp", ModeRole::Rival, {"--mode", "lb-bsp"}},
      {"star", ModeRole::Star, {"--mode", "star"}},
  };
  return architecture == "ps" ? servers : ring;
}

std::string MatrixRun::name() const {
  return fmt::format("{}-{}-{}-{}-{}-s{}", to_target ? "tta" : "final", workload->name,
                     architecture, pattern->name, mode->name, seed);
}

std::vector<std::string> MatrixRun::command(const std::string& folder) const {
  std::vector<std::string> words = {"run", "--arch", std::string(architecture), "--workers", "8"};
  const auto add = [&](const std::vector<std::string_view>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  add(workload->settings);
  add(mode->settings);
  if (to_target) {
    // One evaluation may be high by chance, the mean of five is not.
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

void add_cell(const MatrixWorkload& workload, std::string_view architecture,
              const MatrixPattern& pattern, std::uint64_t seed, const MatrixChoice& choice,
              std::vector<MatrixRun>& runs) {
  for (const MatrixMode& mode : matrix_modes(architecture)) {
    for (const bool to_target : {true, false}) {
      // How accurate a mode becomes in the end is asked of STAR, and held against ssgd.
      if (!to_target && mode.role != ModeRole::Star && mode.name != "ssgd") continue;
      if (!choice.figure.empty() && (choice.figure == "tta") != to_target) continue;
      const MatrixRun run{&workload, architecture, &pattern, &mode, seed, to_target};
      if (run.name().find(choice.only) != std::string::npos) runs.push_back(run);
    }
  }
}

}  // namespace

Result<std::vector<MatrixRun>> choose_runs(const MatrixChoice& choice) {
  if (!choice.figure.empty() && choice.figure != "tta" && choice.figure != "final") {
    return invalid(fmt::format(
        "--figure {}: of star there are tta, final and two-jobs; leave it out for the first two",
        choice.figure));
  }
  std::vector<MatrixRun> runs;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(choice.seeds); ++seed) {
    for (const MatrixWorkload& workload : matrix_workloads()) {
      for (const std::string_view architecture : kMatrixArchitectures) {
        for (const MatrixPattern& pattern : matrix_patterns()) {
          add_cell(workload, architecture, pattern, seed, choice, runs);
        }
      }
    }
  }
  if (runs.empty()) {
    return invalid(fmt::format("--only {}: no run has this in its name; they are called like {}",
                               choice.only, "tta-mnist-cnn-ps-one-slow-star-s1"));
  }
  return runs;
}

}  // namespace orrery
