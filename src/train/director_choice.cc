#include "train/director_choice.h"

#include <fmt/format.h>

#include <algorithm>

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

class LoggedDirector final : public ReasoningDirector {
 public:
  LoggedDirector(std::unique_ptr<Director> inner, RunLog* log)
      : inner_(std::move(inner)), log_(log) {}

  void saw(const IterationSample& sample) override {
    log_->iteration(sample);
    inner_->saw(sample);
  }
  void saw(const UpdateSample& sample) override { inner_->saw(sample); }
  void saw(const EvaluationSample& sample) override { inner_->saw(sample); }
  Mode direct(const Situation& situation) override { return inner_->direct(situation); }
  std::string reason() const override {
    const auto* const star = dynamic_cast<const StarDirector*>(inner_.get());
    return star != nullptr && !star->notes().empty() ? explained(star->notes().back()) : "";
  }

 private:
  const std::unique_ptr<Director> inner_;
  RunLog* const log_;
};

}  // namespace

Result<Direction> choose_direction(const RunOptions& options,
                                   std::unique_ptr<IterationPredictor> predictor, RunLog* log) {
  DirectorOptions with{.workers = options.workers,
                       .architecture = architecture(options),
                       .samples_limit = options.steps * options.batch / options.workers,
                       .blocks = blocks_for(options)};
  with.star.blocks = with.regrouping.blocks = with.blocks;
  with.star.samples_limit = with.samples_limit;
  const OptimizerOptions& optimizer = options.optimizer;
  with.star.staleness.prior =
      staleness_prior(optimizer.kind == "adam" ? optimizer.beta1 : optimizer.momentum);
  if (predictor) with.predictors.push_back(std::move(predictor));
  auto director = director_by_name(options.mode, options.x, std::move(with));
  if (!director.ok()) return std::move(director).error().at("--mode");
  return Direction{.mode = synchronous_mode(architecture(options)),
                   .director = std::make_unique<LoggedDirector>(std::move(director).value(), log)};
}

int blocks_for(const RunOptions& options) {
  constexpr int kBlocks = 4;
  if (options.blocks > 0) return options.blocks;
  return options.mode.starts_with("lgc") ? kBlocks : 1;
}

}  // namespace orrery
