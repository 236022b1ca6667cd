#include "train/director_choice.h"

namespace orrery {
namespace {

class LoggedDirector final : public Director {
 public:
  LoggedDirector(std::unique_ptr<Director> inner, RunLog* log)
      : inner_(std::move(inner)), log_(log) {}

  void saw(const IterationSample& sample) override {
    log_->iteration(sample);
    if (inner_) inner_->saw(sample);
  }
  void saw(const UpdateSample& sample) override {
    if (inner_) inner_->saw(sample);
  }
  void saw(const EvaluationSample& sample) override {
    if (inner_) inner_->saw(sample);
  }
  Mode direct(const Situation& situation) override {
    return inner_ ? inner_->direct(situation) : *situation.mode;
  }

 private:
  const std::unique_ptr<Director> inner_;
  RunLog* const log_;
};

}  // namespace

Result<Direction> choose_direction(const RunOptions& options, RunLog* log) {
  Direction direction;
  TRY_ASSIGN(direction.mode, fixed_mode(options.mode, options.x, options.workers));
  direction.fixed = true;
  direction.director = std::make_unique<LoggedDirector>(nullptr, log);
  return direction;
}

int blocks_for(const RunOptions& options) {
  constexpr int kBlocks = 4;
  if (options.blocks > 0) return options.blocks;
  return options.mode == "lgc" || options.mode == "star" ? kBlocks : 1;
}

}  // namespace orrery
