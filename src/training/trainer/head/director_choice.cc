#include "training/trainer/head/director_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "training/mode_selection/director_by_name.h"

namespace orrery {
namespace {

// With the figures that decided, where there are any.
std::string explained(const ModeSwitch& note) {
  const auto score = [&](const std::string& mode) -> double {
    const auto at = std::ranges::find(note.scores, mode, &ModeSwitch::Score::mode);
    return at == note.scores.end() ? 0 : at->time_s;
  };
  const double to = score(note.to), from = score(note.from);
  if (!(to > 0) || !(from > 0)) return note.reason;
  return fmt::format("{}: {:.3f} s where {} takes {:.3f}", note.reason, to, note.from, from);
}

// Adds what passes until its end. Nothing in between waits, so it is CPU time, or more if the head
// is interrupted; a thread's own clock would cost as much as what it measures.
class CpuTimed {
  using Clock = std::chrono::steady_clock;

 public:
  explicit CpuTimed(double& sum_s) : sum_s_(sum_s), began_(Clock::now()) {}
  ~CpuTimed() { sum_s_ += std::chrono::duration<double>(Clock::now() - began_).count(); }
  CpuTimed(const CpuTimed&) = delete;
  CpuTimed& operator=(const CpuTimed&) = delete;

 private:
  double& sum_s_;
  const Clock::time_point began_;
};

class LoggedDirector final : public ReasoningDirector {
 public:
  // `star` and `trees`, if they are there, are within `inner`.
  LoggedDirector(std::unique_ptr<Director> inner, StarDirector* star, const TreeDirector* trees,
                 RunLog* log)
      : inner_(std::move(inner)), star_(star), trees_(trees), log_(log) {}

  void on_iteration(const IterationSample& sample) override {
    log_->iteration(sample);
    const CpuTimed timed(cpu_s_);
    inner_->on_iteration(sample);
  }
  void on_update(const UpdateSample& sample) override {
    const CpuTimed timed(cpu_s_);
    inner_->on_update(sample);
  }
  void on_evaluation(const EvaluationSample& sample) override {
    const CpuTimed timed(cpu_s_);
    inner_->on_evaluation(sample);
  }
  Mode direct(const Situation& situation) override {
    Mode mode = [&] {
      const CpuTimed timed(cpu_s_);
      return inner_->direct(situation);
    }();
    if (star_ != nullptr) {
      for (const SelectorSample& window : star_->take_windows()) log_->window(window);
    }
    return mode;
  }
  std::string reason() const override {
    const bool selected = star_ != nullptr && !star_->notes().empty();
    if (trees_ != nullptr && !trees_->notes().empty()) {
      const TreeNote& note = trees_->notes().back();
      if (!selected || note.at > star_->notes().back().at) return note.reason;
    }
    return selected ? explained(star_->notes().back()) : "";
  }
  double cpu_s() const override { return cpu_s_; }

 private:
  const std::unique_ptr<Director> inner_;
  StarDirector* const star_;
  const TreeDirector* const trees_;
  RunLog* const log_;
  double cpu_s_ = 0;
};

}  // namespace

std::string explained(const SelectorChoice& selector, std::size_t runs) {
  const SelectorErrors& errors = selector.errors();
  const std::string with = fmt::format("with {} windows of {} earlier run{}",
                                       selector.samples().size(), runs, runs == 1 ? "" : "s");
  if (errors.windows == 0) return with + " the heuristic decides: it takes more of them to learn";
  return fmt::format(
      "{} {} decides: on the newest {} of them the selector is off by {:.4g}, without the mode by "
      "{:.4g}, the heuristic by {:.4g}",
      with, selector.trusted() ? "the selector (between modes it has seen)" : "the heuristic",
      errors.windows, errors.regression, errors.modeless, errors.heuristic);
}

Result<Direction> choose_direction(const RunOptions& options,
                                   std::unique_ptr<IterationPredictor> predictor,
                                   SelectorStart selector, std::shared_ptr<ModeGrant> grant,
                                   RunLog* log, bool with_trees) {
  DirectorOptions with{.workers = options.workers,
                       .architecture = architecture(options),
                       .samples_limit = samples_limit(options),
                       .blocks = blocks_for(options)};
  with.star.blocks = with.regrouping.blocks = with.blocks;
  with.star.samples_limit = with.samples_limit;
  const OptimizerOptions& optimizer = options.optimizer;
  with.star.staleness.prior =
      staleness_prior(optimizer.kind == "adam" ? optimizer.beta1 : optimizer.momentum);
  const std::size_t runs = selector.experience.size();
  with.regression = std::move(selector.regression);
  with.star.experience = std::move(selector.experience);
  with.star.selector.seed = options.learner.seed;
  with.grant = std::move(grant);
  if (predictor) with.predictors.push_back(std::move(predictor));
  double took_s = 0;
  auto director = [&] {
    const CpuTimed timed(took_s);
    return director_by_name(options.mode, options.x, std::move(with));
  }();
  if (!director.ok()) return std::move(director).error().at("--mode");
  std::unique_ptr<Director> chosen = std::move(director).value();
  auto* const star = dynamic_cast<StarDirector*>(chosen.get());
  Direction direction{.mode = synchronous_mode(architecture(options))};
  if (star != nullptr && runs > 0) {
    direction.experience =
        explained(star->selector(), runs) + fmt::format(" (found out in {:.2f} s)", took_s);
  }
  if (with_trees) {
    auto trees = make_tree_director(std::move(chosen), {.hands_on_parameters = true});
    direction.trees = trees.get();
    chosen = std::move(trees);
  }
  direction.director =
      std::make_unique<LoggedDirector>(std::move(chosen), star, direction.trees, log);
  return direction;
}

int blocks_for(const RunOptions& options) {
  constexpr int kBlocks = 4;
  if (options.blocks > 0) return options.blocks;
  return options.mode.starts_with("lgc") ? kBlocks : 1;
}

int held_out_for(const RunOptions& options) { return options.mode == "zeno++" ? 60 : 0; }

}  // namespace orrery
