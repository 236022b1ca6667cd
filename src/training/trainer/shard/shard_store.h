#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "training/trainer/shard/flat_optimizer.h"
#include "training/trainer/transport/messages.h"

namespace orrery {

// One shard's parameters, and the pieces of gradients that wait for their update. What is shared
// out is never changed afterwards: an update makes a new copy while a reader still holds the old.
class ShardStore {
 public:
  ShardStore(std::size_t parameters, const OptimizerOptions& optimizer);

  using Shared = std::shared_ptr<const std::vector<float>>;

  // `values` are the parameters, then the optimiser's state.
  Status load(std::span<const float> values, double batches, ParameterVersion version);
  Shared parameters() const { return parameters_; }
  const FlatOptimizer& optimizer() const { return optimizer_; }
  ParameterVersion version() const { return version_; }

  // A piece is kept if it has the right length and is finite; the answer says so.
  PieceMessage keep(std::int64_t task, std::vector<float>& piece);
  void drop(std::int64_t task) { pieces_.erase(task); }
  void drop_all() { pieces_.clear(); }
  std::size_t held() const { return pieces_.size(); }
  Status set_validation(std::vector<float> gradient);

  // Carries an update out, in the order of its terms, and forgets their pieces. Gives this shard's
  // part of |mean g|^2 over the fresh terms; 0: not known.
  Result<double> apply(const ApplyMessage& message);
  // The same in a ring: only some of the terms are here, and `sum` adds what the others have. When
  // that fails nothing has changed.
  using Sum = std::function<Status(std::span<float>)>;
  Result<double> apply_in_ring(const ApplyMessage& message, const Sum& sum);

  std::uint64_t hash() const;  // of the parameters

 private:
  // Into sum_: the weight of the fresh terms.
  double add_terms(const ApplyMessage& message, bool mixed);
  void step(const Update& update);
  std::vector<float>& writable();

  std::shared_ptr<std::vector<float>> parameters_;
  FlatOptimizer optimizer_;
  ParameterVersion version_ = 0;
  std::map<std::int64_t, std::vector<float>> pieces_{};
  std::vector<float> sum_{}, fresh_sum_{};
  std::vector<float> validation_{};
  double validation_norm2_ = 0;
};

}  // namespace orrery
