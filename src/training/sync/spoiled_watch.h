#pragma once

#include <map>
#include <optional>
#include <string>

#include "training/sync/task.h"

namespace orrery {

// Reports when training has come apart: `most` gradients in a row that cannot be used, of all
// workers together or of one of them. Where parameters or a worker's device are broken, no later
// gradient mends it. A `most` of 0 allows any number.
class SpoiledWatch {
 public:
  explicit SpoiledWatch(int most) : most_(most) {}

  struct Spoiled {
    WorkerId worker{};
    ParameterVersion version = 0;  // of the parameters that it was computed with
    double rate = 0;
    std::string why{};
  };
  void used(WorkerId worker);
  // Why training ends, if it does: how many, and the cause as the first of the row showed it.
  std::optional<std::string> spoiled(const Spoiled& gradient);

 private:
  struct Row {
    int count = 0;
    Spoiled first{};
  };
  static void extend(Row& row, const Spoiled& gradient);

  const int most_;
  Row all_{};
  std::map<WorkerId, Row> of_worker_{};
};

}  // namespace orrery
