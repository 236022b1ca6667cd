#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "training/trainer/head/children.h"
#include "training/trainer/head/part_state.h"
#include "training/trainer/head/run_context.h"
#include "training/trainer/head/worker_limit.h"
#include "training/trainer/transport/host.h"

namespace orrery {

class ServerEmulation;

// The processes of a run: starts them, knows them by role and number, and keeps as many workers as
// are wanted. What the loss of a process means for the training is for others to say.
class RunMembers {
 public:
  RunMembers(RunContext& run, ServerEmulation& emulation, std::shared_ptr<Transport> transport,
             Children::OnEnd on_end);

  // Where processes that are started from now on find the head.
  void listen_at(const Host& host) { host_ = &host; }
  // Before anything starts: an error if the machine does not allow that many workers.
  Status check(int workers) const;
  Status start_evaluator();
  Status start_shards(int count);
  Status start_worker(int slot);
  PartState& add_joiner();  // a worker that came by itself

  PartState* find(PartRole role, int id);
  std::optional<std::pair<PartRole, int>> find_process(pid_t pid) const;
  PartState* connected(WorkerId worker);  // null: it is gone or not connected
  std::map<int, PartState>& workers() { return workers_; }
  std::vector<PartState>& shards() { return shards_; }
  PartState& evaluator() { return evaluator_; }
  bool shards_ready() const;
  int present() const;  // workers that are not dismissed
  int joined() const;   // workers that the Conductor counts on
  // The address at which `peer` reaches a part that may listen on all addresses of the head's
  // machine.
  static std::string address_of(const PartState& part, const PartState& peer);

  // The number of workers. Missing ones start, as fast as the machine allows.
  int wanted() const { return wanted_; }
  void want(int workers) { wanted_ = workers; }
  void one_less() { --wanted_; }
  WorkerLimit limit(bool anyway) const;
  // Workers that have joined and are one too many go to `retire`; the others end at once.
  void resize(int workers, bool anyway, const std::function<void(WorkerId)>& retire);
  void grow();

  // Takes a worker out, with its process and its line.
  std::optional<PartState> remove_worker(int id);
  void dismiss(int id);
  void replace_evaluator();
  void stop_all();  // asks every process to end
  void wait_until(std::chrono::steady_clock::time_point deadline);
  void clear();  // kills every process
  int free_place() const;

 private:
  Status start_part(PartState& part);
  WorkerCapacity capacity(bool anyway) const;
  int free_slot() const;
  void cannot_grow(const std::string& why);

  RunContext& run_;
  ServerEmulation& emulation_;
  const std::shared_ptr<Transport> transport_;
  const Host* host_ = nullptr;
  Children children_;
  std::vector<PartState> shards_{};
  PartState evaluator_{};
  std::map<int, PartState> workers_{};
  int next_worker_ = 0;
  int wanted_ = 0;
  bool anyway_ = false;  // a resize went beyond what the machine allows
};

}  // namespace orrery
