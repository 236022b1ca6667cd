#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "training/trainer/head/exchange/parameter_exchange.h"
#include "training/trainer/head/exchange/ring_record.h"
#include "training/trainer/head/exchange/task_book.h"

namespace orrery {

// All-reduce: the members of a ring hold the parameters and make the updates together. Workers
// outside the ring hang off one of its members, which passes parameters on and takes gradients in.
class RingExchange final : public ParameterExchange {
 public:
  // What is not decided here.
  struct Calls {
    std::function<void(int worker, const std::string& how)> lose_worker{};
    std::function<void(const std::string& why)> restart{};
    std::function<std::string()> head_address{};
    std::function<bool()> sums_on_cpus{};
  };
  RingExchange(RunContext& run, TrainingSession& session, RunMembers& members, TaskBook& tasks,
               Calls calls)
      : run_(run), session_(session), members_(members), tasks_(tasks), calls_(std::move(calls)) {}

  void begin(ParameterVersion version) override;
  bool ready() const override { return true; }
  ShardPlace place_of(const PartState& part) const override;
  void worker_has(int worker, ParameterVersion version) override { holds_[worker] = version; }
  void send_parameters(RunningTask& task) override;
  void apply(const ApplyUpdate& order) override;
  void drop(std::int64_t task) override;
  void form(const FormRing& order) override;
  int pieces_needed() const override { return 1; }
  void piece_came(PartRole role, int from, MessageFrame& frame) override;
  void task_completed(WorkerId worker) override;
  void applied(int from, ParameterVersion version, const AppliedMessage& message) override;
  void ring_formed(int worker, MessageFrame& frame) override;
  void link_measured(PartState& worker, const MessageFrame& frame) override;
  std::set<int> ask_for_parameters(std::int64_t number, bool for_checkpoint) override;
  std::set<int> waiting() const override { return update_.waiting; }
  void watch() override;
  void measure_links() override;
  void forget(int worker) override;
  void after_loss(int worker) override;

 private:
  // The update that the ring is making.
  struct RingUpdate {
    ParameterVersion version = 0;  // 0: none
    std::set<int> waiting{};       // members that have not reported
    bool any_done = false;
    double fresh_mean_norm2 = 0;
    std::vector<Term> terms{};
  };

  bool is_member(int worker) const;
  bool holds_newest(WorkerId worker) const;
  bool each_has_a_gpu(const std::vector<WorkerId>& ring);
  std::string address_in_ring(const std::vector<WorkerId>& ring);
  void send_ring(const std::vector<WorkerId>& ring, RingPlace place);
  void send_to_ring(MessageType type, std::int64_t number);
  void check_update();
  void ring_failed(std::int64_t epoch, const std::string& why);
  void probe_link(PartState& worker);

  RunContext& run_;
  TrainingSession& session_;
  RunMembers& members_;
  TaskBook& tasks_;
  const Calls calls_;
  std::int64_t epoch_ = 0;
  std::vector<WorkerId> ring_{};
  std::vector<std::pair<WorkerId, WorkerId>> parents_{};  // child and parent
  ParameterVersion version_ = 0;                          // what the ring has
  std::map<int, ParameterVersion> holds_{};               // what each worker is known to have
  RingUpdate update_{};
  RingRecord record_{};
  std::int64_t ticks_ = 0;
};

}  // namespace orrery
