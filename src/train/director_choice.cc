#include "train/director_choice.h"

#include "steer/director_by_name.h"

namespace orrery {
namespace {

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
    return star != nullptr && !star->notes().empty() ? star->notes().back().reason : "";
  }

 private:
  const std::unique_ptr<Director> inner_;
  RunLog* const log_;
};

}  // namespace

Result<Direction> choose_direction(const RunOptions& options,
                                   std::unique_ptr<IterationPredictor> predictor,
                                   std::shared_ptr<ModeGrant> grant, RunLog* log) {
  DirectorOptions with{.workers = options.workers,
                       .architecture = architecture(options),
                       .samples_limit = options.steps * options.batch / options.workers,
                       .blocks = blocks_for(options)};
  with.star.blocks = with.regrouping.blocks = with.blocks;
  with.star.samples_limit = with.samples_limit;
  const OptimizerOptions& optimizer = options.optimizer;
  with.star.staleness.prior =
      staleness_prior(optimizer.kind == "adam" ? optimizer.beta1 : optimizer.momentum);
  with.grant = std::move(grant);
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
