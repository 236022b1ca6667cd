#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "training/mode_selection/scoring/selector.h"
#include "training/result/training_result.h"
#include "training/sync/director.h"
#include "training/trainer/run_folder/step_log.h"

namespace orrery {

// The tables a run leaves in its folder: docs/formats/training-run.md. A resumed run adds to them,
// in place of half a line that it left when it was killed. A table on a full disk ends with a whole
// line. Without a folder nothing is written.
class RunLog {
 public:
  static Result<std::unique_ptr<RunLog>> open(const std::string& folder, bool members = false);
  ~RunLog();

  void curve(const EvaluatedVersion& point);
  void iteration(const IterationSample& sample);
  void mode(const ModeChange& change);
  void window(const SelectorSample& window);
  // A line for each number of workers that a run with members has had.
  void membership(double at_s, std::int64_t epoch, int workers, double factor, double rate);
  struct SavedCheckpoint {
    double at_s = 0;
    std::int64_t version = 0, gradients = 0, bytes = 0;
    double save_s = 0;  // from the order to the file's being on the disk
  };
  void checkpoint(const SavedCheckpoint& saved);
  void process(double at_s, const std::string& role, int id, long pid, const std::string& what);
  // From now on steps are recorded, too.
  void record_steps(std::unique_ptr<StepLog> steps) { steps_ = std::move(steps); }
  StepLog* steps() { return steps_.get(); }  // null: they are not
  void flush();
  // What every write goes through from now on. A refusal is no failure of the table.
  using Guard = std::function<Status(const std::function<Status()>&)>;
  void guard(Guard by) { guard_ = std::move(by); }
  Status guarded(const std::function<Status()>& write) const;
  Status status() const;  // the first failure to write; lines are missing from that table

 private:
  explicit RunLog(std::string folder);
  struct Table;
  Status add(std::unique_ptr<Table>& table, const std::string& name, const std::string& columns);

  void put(const std::unique_ptr<Table>& table, const std::string& line, bool at_once);
  void flush(Table& table);
  std::vector<Table*> tables() const;

  const std::string folder_;
  Guard guard_{};
  std::unique_ptr<Table> curve_, iterations_, modes_, windows_, processes_;
  std::unique_ptr<StepLog> steps_;
  std::unique_ptr<Table> membership_, checkpoints_;  // of a run with members
};

}  // namespace orrery
