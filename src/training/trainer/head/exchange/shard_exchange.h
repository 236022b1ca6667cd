#pragma once

#include <map>
#include <vector>

#include "training/trainer/head/exchange/parameter_exchange.h"
#include "training/trainer/head/exchange/task_book.h"

namespace orrery {

// Parameter servers: shards hold the parameters and make the updates. With a tree, workers hand in
// at their parents, which also pass parameters on to their children.
class ShardExchange final : public ParameterExchange {
 public:
  ShardExchange(RunContext& run, TrainingSession& session, RunMembers& members,
                ServerEmulation& emulation, TaskBook& tasks)
      : run_(run), session_(session), members_(members), emulation_(emulation), tasks_(tasks) {}

  void begin(ParameterVersion version) override;
  Status start() override;
  bool ready() const override;
  ShardPlace place_of(const PartState& part) const override;
  void look_ahead(const std::vector<Order>& orders) override;
  void send_parameters(RunningTask& task) override;
  void apply(const ApplyUpdate& order) override;
  void drop(std::int64_t task) override;
  void form(const FormTree& order) override;
  int pieces_needed() const override;
  void piece_came(PartRole role, int from, MessageFrame& frame) override;
  void applied(int from, ParameterVersion version, const AppliedMessage& message) override;
  void parent_has_none(std::int64_t task) override;
  std::set<int> ask_for_parameters(std::int64_t number, bool for_checkpoint) override;
  void send_validation(std::int64_t number, const std::vector<float>& gradient) override;
  void measure_links() override;
  void forget(int /*worker*/) override {}
  void after_loss(int worker) override;

 private:
  // An update whose confirmations are still coming in.
  struct PendingUpdate {
    int missing = 0;
    double fresh_mean_norm2 = 0;
  };
  // What links carried by the last look at them.
  struct LinkUse {
    std::vector<double> sent_bytes{}, got_bytes{};  // by each shard, as far as they are of tasks
    std::vector<ServerUse> used{};                  // of each shard's server
    Time at{};
    bool looked = false;
  };

  int parent_with_parameters(const Task& task);
  void ask_shards(const Task& task, bool send);
  double bytes_of(std::size_t shard) const;

  RunContext& run_;
  TrainingSession& session_;
  RunMembers& members_;
  ServerEmulation& emulation_;
  TaskBook& tasks_;
  std::vector<ShardPlace> places_{};
  std::map<ParameterVersion, PendingUpdate> updates_{};
  std::map<int, int> parents_{};                // by child
  std::map<int, ParameterVersion> starting_{};  // of workers whose tasks are handed out right now
  LinkUse links_{};
};

}  // namespace orrery
