#include <memory>
#include <utility>

#include "apps/build_version.h"
#include "training/libtorch/all_reduce.h"
#include "training/libtorch/learner.h"
#include "training/libtorch/lstm_predictor.h"
#include "training/libtorch/mode_network.h"
#include "training/trainer/train_main.h"

namespace {

using orrery::IterationPredictor;
using orrery::Result;

Result<std::unique_ptr<IterationPredictor>> fit(std::span<const orrery::IterationHistory> logged,
                                                const orrery::TrainPorts::FitSettings& settings) {
  TRY_ASSIGN(auto made, orrery::fit_lstm_predictor(logged, {.held_out = settings.held_out}));
  TRY(made->save(settings.file));
  return std::unique_ptr<IterationPredictor>(std::move(made));
}

Result<std::unique_ptr<IterationPredictor>> load(const std::string& file) {
  TRY_ASSIGN(auto made, orrery::load_lstm_predictor(file));
  return std::unique_ptr<IterationPredictor>(std::move(made));
}

std::unique_ptr<orrery::ModeRegression> make_selector() {
  return orrery::make_mode_network(orrery::kOnLineModeNetwork);
}

}  // namespace

int main(int argc, char** argv) {
  return orrery::train_main(argc, argv,
                            {.make_learner = orrery::make_learner,
                             .open_meeting_place = orrery::open_meeting_place,
                             .join_all_reduce = orrery::join_all_reduce,
                             .gpu_name = orrery::gpu_name,
                             .models = orrery::learner_models,
                             .data = orrery::learner_data,
                             .fit_predictor = fit,
                             .load_predictor = load,
                             .make_selector = make_selector},
                            orrery::build_version("orrery-train"));
}
