#pragma once

#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "training/sync/conductor.h"
#include "training/sync/test_director.h"

namespace orrery {

// Workers 0 .. N-1 under a Conductor, for tests that say which worker hands in when. Orders are
// kept by kind. Where tasks take time instead: timed_harness.h.
class ConductorHarness {
 public:
  ConductorHarness(ConductorOptions options, int workers, Mode mode,
                   const ConductorState& from = {}) {
    options.workers_first = workers;
    auto asked = std::make_unique<TestDirector>(std::move(mode));
    director = asked.get();
    conductor = std::make_unique<Conductor>(std::move(options), std::move(asked), from);
    for (int i = 0; i < workers; ++i) join(i);
  }

  void join(int worker) {
    act([&] { conductor->join(WorkerId{worker}, now()); });
  }
  void leave(int worker) {
    act([&] { conductor->leave(WorkerId{worker}, now()); });
  }
  void retire(int worker) {
    act([&] { conductor->retire(WorkerId{worker}, now()); });
  }
  void tick() {
    act([&] { conductor->tick(now()); });
  }
  void finish() {
    act([&] { conductor->finish("enough", now()); });
  }
  void applied() {
    act([&] { conductor->applied({.version = updates.back().update.version}, now()); });
  }
  void failed(std::vector<WorkerId> lost) {
    act([&] { conductor->failed(updates.back().update.version, lost, now()); });
  }
  void spoil(int worker) {
    act([&] { conductor->spoiled(task.at(worker).number, "not finite", now()); });
  }
  void evaluated(ParameterVersion version, double accuracy) {
    act([&] { conductor->evaluated({.version = version, .accuracy = accuracy}, now()); });
  }
  void say(const Gradient& gradient) {
    act([&] { conductor->ready(gradient, now()); });
  }
  // The worker's task is done, with those of its children merged into it.
  void done(int worker, const std::vector<int>& children = {}) {
    Gradient gradient = gradient_of(worker);
    for (const int child : children) {
      gradient.merged.push_back(task.at(child).number);
      gradient.samples += task.at(child).samples.count;
    }
    say(gradient);
  }
  Gradient gradient_of(int worker) const {
    return {.task = task.at(worker).number, .samples = task.at(worker).samples.count, .norm2 = 1};
  }

  std::vector<std::int64_t> terms(std::size_t update) const {
    std::vector<std::int64_t> tasks;
    for (const Term& term : updates.at(update).update.terms) tasks.push_back(term.task);
    return tasks;
  }
  bool computes(int worker) const { return task.contains(worker); }

  std::unique_ptr<Conductor> conductor{};
  TestDirector* director = nullptr;
  std::map<int, Task> task{};  // what each is computing
  std::vector<Task> started{};
  std::vector<ApplyUpdate> updates{};
  std::vector<CutTask> cuts{};
  std::vector<DropGradient> drops{};
  std::vector<FormRing> rings{};
  std::vector<FormTree> trees{};
  std::vector<Order> others{};

 private:
  Time now() const { return Time(std::chrono::milliseconds(steps_)); }
  template <class Call>
  void act(const Call& call) {
    ++steps_;
    call();
    for (Order& order : conductor->take_orders()) note(order);
  }
  void note(Order& order) {
    if (const auto* const start = std::get_if<StartTask>(&order)) {
      started.push_back(start->task);
      task[static_cast<int>(start->task.worker)] = start->task;
    } else if (const auto* const apply = std::get_if<ApplyUpdate>(&order)) {
      updates.push_back(*apply);
      for (const Task& used : apply->tasks) {
        std::erase_if(task, [&](const auto& one) { return one.second.number == used.number; });
      }
    } else if (const auto* const cut = std::get_if<CutTask>(&order)) {
      cuts.push_back(*cut);
    } else if (const auto* const drop = std::get_if<DropGradient>(&order)) {
      drops.push_back(*drop);
    } else if (const auto* const ring = std::get_if<FormRing>(&order)) {
      rings.push_back(*ring);
    } else if (const auto* const tree = std::get_if<FormTree>(&order)) {
      trees.push_back(*tree);
    } else {
      others.push_back(order);
    }
  }

  int steps_ = 0;
};

}  // namespace orrery
