// learn_bench [--device cpu|cuda] [--batch N] [--steps N] [MODEL...]
//
// The time of one training step of each model: batch, loss, gradient, SGD with momentum.
// torch_step.py beside it times the same in PyTorch.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "training/libtorch/learner.h"
#include "training/libtorch/local_optimizer.h"

using namespace orrery;

namespace {

struct Call {
  std::string device = "cpu";
  int batch = 32;
  int steps = 100;
  std::vector<std::string> models{};
};

int whole(const char* text) {
  const std::string_view all(text);
  int value = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
  return error == std::errc{} && end == all.data() + all.size() ? value : 0;
}

bool read_call(int argc, char** argv, Call& call) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      call.models.push_back(word);
      continue;
    }
    if (++i == argc) return false;
    if (word == "--device") {
      call.device = argv[i];
    } else if (word == "--batch") {
      call.batch = whole(argv[i]);
    } else if (word == "--steps") {
      call.steps = whole(argv[i]);
    } else {
      return false;
    }
  }
  if (call.models.empty()) call.models = learner_models();
  return call.batch > 0 && call.steps > 0;
}

struct StepTimes {
  double median_s = 0;
  double cpu_s = 0;  // of this process, mean: what counts where others use the machine too
};

Result<StepTimes> times_of(Learner& learner, const Call& call) {
  constexpr int kWarmUp = 10;
  TRY_ASSIGN(const auto optimizer, make_local_optimizer(learner, {.momentum = 0.9}));
  std::vector<double> times;
  std::clock_t cpu_before = 0;
  for (int step = 0; step < kWarmUp + call.steps; ++step) {
    if (step == kWarmUp) cpu_before = std::clock();
    const auto before = std::chrono::steady_clock::now();
    TRY(learner.compute({.first = std::int64_t{step} * call.batch, .count = call.batch}, 1, {}));
    TRY(optimizer->step(0.01));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
    if (step >= kWarmUp) times.push_back(took.count());
  }
  const double cpu = static_cast<double>(std::clock() - cpu_before) / CLOCKS_PER_SEC;
  std::sort(times.begin(), times.end());
  return StepTimes{times[times.size() / 2], cpu / call.steps};
}

Status time_model(const std::string& model, const Call& call) {
  const bool text = model == "lstm" || model == "transformer";
  TRY_ASSIGN(
      const auto learner,
      make_learner({.model = model, .data = text ? "grammar" : "gaussian", .device = call.device}));
  TRY_ASSIGN(const auto times, times_of(*learner, call));
  std::printf("%-12s %10lld %6d %10.3f %10.3f\n", model.c_str(),
              static_cast<long long>(learner->parameter_count()), call.batch, 1e3 * times.median_s,
              1e3 * times.cpu_s);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Call call;
  if (!read_call(argc, argv, call)) {
    std::fprintf(stderr,
                 "usage: learn_bench [--device cpu|cuda] [--batch N] [--steps N] [MODEL...]\n");
    return 2;
  }
  std::printf("%-12s %10s %6s %10s %10s\n", "model", "parameters", "batch", "median ms", "CPU ms");
  for (const std::string& model : call.models) {
    if (const Status done = time_model(model, call); !done.ok()) {
      std::fprintf(stderr, "%s: %s\n", model.c_str(), done.error().message.c_str());
      return 1;
    }
  }
  return 0;
}
