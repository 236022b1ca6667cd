#pragma once

#include <atomic>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/trainer/transport/host.h"
#include "training/trainer/transport/part.h"
#include "training/trainer/transport/setup.h"
#include "training/trainer/worker/ring_member.h"
#include "training/trainer/worker/worker_parts.h"

namespace orrery {

// Computes what it is told to, one task at a time: between the blocks of a task it looks at its
// connections, and otherwise waits at them. Only a parent computes on a thread of its own, which
// touches nothing but the learner, while the other one serves the children.
class Worker {
 public:
  explicit Worker(const TrainPorts& ports) : ports_(ports) {}
  Status run(const PartStart& start);

 private:
  // worker.cc
  void from_head(Frame& frame);
  void act(Frame& frame);
  void set_up(Frame& frame);
  void meet_peers(Frame& frame);
  Result<std::shared_ptr<Connection>> reach(const std::string& address, std::uint16_t port,
                                            const ShardPlace* place);
  void lost_peer(Connection& gone, const Error& why);
  void parameters_came(const ShardPlace* place, Frame& frame);
  bool can_compute() const;
  // When this process heard of a task, and what it had computed by then.
  struct Told {
    std::chrono::steady_clock::time_point at{};
    double cpu_s = 0;
  };
  struct Work {
    Gradient gradient{};
    double took_s = 0;
  };
  void compute();
  Result<Work> compute_now(const Task& task, const std::function<void()>& between);
  void computed(Result<Work> work, const Told& told);
  void hand_in(const Gradient& gradient, std::span<const float> values,
               const std::shared_ptr<const void>& keep);
  void send_gradient(Connection& to, const Gradient& gradient,
                     std::vector<std::span<const float>> values, std::shared_ptr<const void> keep);

  // worker_tree.cc: handing in at a parent, and being one.
  void welcome_child(const std::shared_ptr<Connection>& connection, const Hello& hello);
  void from_child(Connection& from, Frame& frame);
  void follow_parent(const std::string& address, std::uint16_t port);
  void enter_tree();
  void note_parameters();
  void serve_children();
  void ask_for_parameters();
  void hand_in_when_complete(Gradient gradient, double took_s);
  void hand_in_merged();
  void forward(HandedGradient handed);
  void hand_up(const Gradient& gradient);
  void lost_parent();

  // worker_ring.cc: all-reduce.
  void act_in_ring(Frame& frame);
  void form_ring(Frame& frame);
  void apply_in_ring(Frame& frame);
  void send_snapshot(Frame& frame);
  void show_link(Frame& frame);
  void send_parameters_to_child(std::int64_t task, WorkerId child);
  void hand_in_to_ring(const Gradient& gradient);

  const TrainPorts& ports_;
  std::unique_ptr<Part> part_{};
  std::unique_ptr<Learner> learner_{};
  std::unique_ptr<Host> host_{};
  std::deque<Frame> deferred_{};
  std::size_t count_ = 0;
  std::vector<float> flat_{};  // parameters as they arrive

  std::vector<ShardPlace> places_{};
  std::vector<std::shared_ptr<Connection>> shards_{};
  std::vector<std::int64_t> arrived_{};  // from each shard: the task whose parameters came last
  std::int64_t arrived_from_parent_ = 0;
  ParameterVersion flat_version_ = -1;  // of what is in flat_; -1: being overwritten, or not known
  std::shared_ptr<const std::vector<float>> handed_on_{};  // a copy of flat_, for children
  std::optional<Task> task_{};
  Told told_{};                        // of it
  std::atomic<std::int64_t> cut_ = 0;  // tasks up to this number are to be cut
  std::atomic<bool> leaving_ = false;
  int sends_under_way_ = 0;
  bool computing_ = false;

  std::optional<ParentMessage> next_tree_{};  // from the next task on
  bool waits_for_children_ = false;
  std::shared_ptr<Connection> parent_{};
  std::string parent_address_{};
  std::uint16_t parent_port_ = 0;
  std::optional<Gradient> handed_up_{};      // to a parent, since the last task,
  std::shared_ptr<Connection> handed_to_{};  // which may be the one before
  std::map<WorkerId, std::shared_ptr<Connection>> children_{};
  std::deque<HandedGradient> from_children_{};
  std::optional<Gradient> handing_in_{};  // its own, which waits for the children's
  std::unique_ptr<boost::asio::steady_timer> patience_{}, shard_lost_{};

  boost::asio::thread_pool beside_{1};
  std::unique_ptr<RingMember> ring_{};
  std::vector<OwedParameters> owed_{};  // to children who are not there yet, or before it is
};

}  // namespace orrery
