#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "training/mode_selection/director_by_name.h"
#include "training/mode_selection/star/star.h"
#include "training/mode_selection/test_world.h"

namespace orrery {

// A world under STAR, and the director to look into.
struct StarWorld {
  std::unique_ptr<TestWorld> world{};
  StarDirector* star = nullptr;
};

inline StarWorld under_star(const WorldOptions& options, Pattern pattern, StarOptions star = {},
                            std::shared_ptr<ModeGrant> grant = nullptr,
                            std::vector<std::unique_ptr<IterationPredictor>> predictors = {}) {
  star.blocks = options.blocks;
  auto made = make_star_director(star, std::move(predictors), nullptr, std::move(grant));
  StarWorld run{.star = made.get()};
  run.world = std::make_unique<TestWorld>(options, std::move(pattern), std::move(made));
  return run;
}

inline double time_under(std::string_view name, const WorldOptions& world, const Pattern& pattern) {
  DirectorOptions options;
  options.workers = world.workers;
  options.architecture = world.architecture;
  options.blocks = world.blocks;
  auto made = director_by_name(name, 0, std::move(options));
  EXPECT_TRUE(made.ok());
  return TestWorld(world, pattern, std::move(made).value()).run();
}

inline Slowness none_slow(int, double, std::int64_t) { return {}; }
inline Slowness slow_cpu(int worker, double, std::int64_t) {
  return {.compute = worker == 3 ? 4.0 : 1.0};
}
inline Slowness slow_link(int worker, double, std::int64_t) {
  return {.link = worker == 3 ? 30.0 : 1.0};
}
inline Slowness on_and_off(int worker, double now_s, std::int64_t) {
  return {.compute = worker == 3 && std::fmod(now_s, 40) < 20 ? 4.0 : 1.0};
}
inline Slowness wandering(int worker, double now_s, std::int64_t) {
  if (worker % 3 != 0) return {};
  const double swing = 1 + 1.2 * std::abs(std::sin(0.05 * now_s * (1 + 0.37 * worker) + worker));
  return {.compute = swing * swing};
}

}  // namespace orrery
