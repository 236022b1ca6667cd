#include "train/director_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "steer/director_by_name.h"

namespace orrery {
namespace {

// With the figures that decided, where there are any.
std::string explained(const SteerNote& note) {
  const auto score = [&](const std::string& mode) -> double {
    const auto at = std::ranges::find(note.scores, mode, &SteerNote::Score::mode);
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
  LoggedDirector(std::unique_ptr<Director> inner, const StarDirector* star,
                 const TreeDirector* trees, RunLog* log)
      : inner_(std::move(inner)), star_(star), trees_(trees), log_(log) {}

  void saw(const IterationSample& sample) override {
    log_->iteration(sample);
    const CpuTimed timed(cpu_s_);
    inner_->saw(sample);
  }
  void saw(const UpdateSample& sample) override {
    const CpuTimed timed(cpu_s_);
    inner_->saw(sample);
  }
  void saw(const EvaluationSample& sample) override {
    const CpuTimed timed(cpu_s_);
    inner_->saw(sample);
  }
  Mode direct(const Situation& situation) override {
    const CpuTimed timed(cpu_s_);
    return inner_->direct(situation);
  }
  std::string reason() const override {
    const bool steered = star_ != nullptr && !star_->notes().empty();
    if (trees_ != nullptr && !trees_->notes().empty()) {
      const TreeNote& note = trees_->notes().back();
      if (!steered || note.at > star_->notes().back().at) return note.reason;
    }
    return steered ? explained(star_->notes().back()) : "";
  }
  double cpu_s() const override { return cpu_s_; }

 private:
  const std::unique_ptr<Director> inner_;
  const StarDirector* const star_;
  const TreeDirector* const trees_;
  RunLog* const log_;
  double cpu_s_ = 0;
};

}  // namespace

Result<Direction> choose_direction(const RunOptions& options,
                                   std::unique_ptr<IterationPredictor> predictor,
                                   std::unique_ptr<ModeRegression> regression,
                                   std::shared_ptr<ModeGrant> grant, RunLog* log, bool with_trees) {
  DirectorOptions with{.workers = options.workers,
                       .architecture = architecture(options),
                       .samples_limit = options.steps * options.batch / options.workers,
                       .blocks = blocks_for(options)};
  with.star.blocks = with.regrouping.blocks = with.blocks;
  with.star.samples_limit = with.samples_limit;
  const OptimizerOptions& optimizer = options.optimizer;
  with.star.staleness.prior =
      staleness_prior(optimizer.kind == "adam" ? optimizer.beta1 : optimizer.momentum);
  with.regression = std::move(regression);
  with.star.selector.seed = options.learner.seed;
  with.grant = std::move(grant);
  if (predictor) with.predictors.push_back(std::move(predictor));
  auto director = director_by_name(options.mode, options.x, std::move(with));
  if (!director.ok()) return std::move(director).error().at("--mode");
  std::unique_ptr<Director> chosen = std::move(director).value();
  const auto* const star = dynamic_cast<const StarDirector*>(chosen.get());
  Direction direction{.mode = synchronous_mode(architecture(options))};
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
