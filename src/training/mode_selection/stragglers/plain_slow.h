#pragma once

#include <span>
#include <utility>
#include <vector>

#include "training/mode_selection/stragglers/iteration_book.h"

namespace orrery {

struct PlainSlowOptions {
  double factor = 2;  // slower than the middle one by more than this, in each of
  int tasks = 2;      // the first tasks, that many,
  Duration behind = std::chrono::milliseconds(500);  // or in the first, by this time as well

  double hang_factor = 20;  // a task under way for more than that many usual ones,
  Duration hang_least = std::chrono::seconds(2);  // and this time, hangs
};

// Workers that are slow beyond doubt although few tasks were seen: far slower than most, each task
// compared with all workers' tasks of the same number; or by what is known of their links, which in
// all-reduce are in no task. None until all have done one.
std::vector<WorkerId> plainly_slow(std::span<const WorkerRecord> records,
                                   const PlainSlowOptions& options = {});

// What a task of this batch costs each worker, when no more is known than which are slow. How the
// others differ is chance so far: they are taken to be alike, and it is what tasks scatter by.
struct FirstCosts {
  std::vector<TaskCost> costs{};  // beside the records
  double scatter = 0;             // mean distance of the others' newest tasks, share of a task
};
FirstCosts first_costs(std::span<const WorkerRecord> records, std::span<const WorkerId> slow,
                       double batch);

// Workers whose task has been under way for so long that it is not to be waited for, and how long;
// ascending. Those times are compared with that of the median worker.
std::vector<std::pair<WorkerId, double>> hanging(std::span<const WorkerRecord> records,
                                                 std::span<const TaskUnderWay> under_way,
                                                 const PlainSlowOptions& options = {});

}  // namespace orrery
