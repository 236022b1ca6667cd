#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "training/libtorch/learner.h"
#include "training/sync/order.h"
#include "training/sync/task.h"
#include "training/trainer/shard/shard_layout.h"
#include "training/trainer/transport/wire.h"

namespace orrery {

// Run: a head that connects to shared servers. Pulse: a part's connection for heartbeats.
// Gang: another rank of the same job, whose number the hello gives.
enum class PartRole : std::uint8_t { Shard = 1, Worker, Evaluator, Command, Run, Pulse, Gang };

// What the messages of a run say; which of them goes where stands with MessageType. A message about
// a task, a version or an epoch has its number in the frame's header.
struct Hello {
  PartRole role{};
  std::int32_t id = -1;  // -1: a worker that wants to join
  std::int64_t pid = 0;
};
struct PulseMessage {
  PartRole role{};  // of the part whose heartbeat it is
  std::int32_t id = -1;
};
struct Text {  // Setup (JSON), Answer
  std::string text{};
  bool ok = true;
};
// What a shard has kept of a run whose head is gone: the newest updates, each an ApplyMessage.
struct ShardHolding {
  ParameterVersion version = -1;  // -1: it holds nothing
  std::vector<std::string> updates{};
};
struct ReadyMessage {
  std::string error{};  // empty: it is ready
  std::int32_t error_code = 0;
  std::vector<TensorPlace> tensors{};
  std::int64_t training_samples = 0;
  std::string address{};  // where others reach it
  std::uint16_t port = 0;
  std::string gpu{};  // of a worker: what it computes on, as all call it; empty: none to sum on
  ShardHolding held{};
};
struct PeersMessage {
  std::int32_t id = -1;  // the number this worker has from now on
  std::vector<std::pair<std::string, std::uint16_t>> shards{};
  std::vector<ShardPlace> places{};
};
struct TaskMessage {
  Task task{};
};
struct GradientHead {  // with the floats
  std::int32_t samples = 0;
};
struct GradientMessage {
  Gradient gradient{};
};
struct PieceMessage {
  std::string fault{};  // why it cannot be used
  double norm2 = 0, dot_validation = 0, norm2_validation = 0;
};
struct ApplyMessage {
  Update update{};
  std::vector<std::uint8_t> fresh{};  // which terms were computed on the version before
  std::vector<WorkerId> workers{};
  std::string state{};  // of a run with members: where it stands after the update, for another head
};
struct AppliedMessage {
  bool ok = true;
  std::string error{};
  double fresh_mean_norm2 = 0;  // this part's share of it
};
struct SendParametersMessage {
  WorkerId worker{};
  ParameterVersion version = 0;  // with a tree: which the parent passes on
  bool send = true;              // to a shard: false: a parent does, but a gradient may come
};
struct SnapshotMessage {  // TakeSnapshot and Snapshot: the parameters, then the optimiser's state
  bool floats = true;     // false: only the hash; of LoadState: the shard has that version already
  bool optimizer = false;
  ParameterVersion version = 0;
  double batches = 0;  // that the optimiser has stepped by
  std::uint64_t hash = 0;
};
struct EvaluatedMessage {
  std::string error{};
  Evaluation evaluation{};
};
struct ValidateMessage {
  std::int32_t samples = 0;
};
struct RingPlace {
  std::int32_t rank = -1;  // -1: not in the ring
  std::int32_t size = 0;
  std::int32_t source = -1;  // whose parameters all take over first; -1: all have them
  ParameterVersion version = 0;
  std::string name{};
  std::string parent_address{};  // of a child
  std::uint16_t parent_port = 0;
  bool on_gpus = false;       // each has one of its own, and they sum there
  std::string own_address{};  // by which the others of the ring reach it; empty: as it says itself
};
struct RingFormedMessage {
  bool ok = true;
  std::string error{};
};
struct ParentMessage {    // FormTree
  std::string address{};  // empty: hand in at the shards
  std::uint16_t port = 0;
  bool waits = false;  // a parent waits for its children, however long they take
};
struct LinkMessage {
  double bytes_per_s = 0;
};
struct CountMessage {
  std::int32_t count = 0;
};
struct ResizeMessage {
  std::int32_t count = 0;
  bool anyway = false;  // beyond what the machine is thought to bear
};
struct Nothing {};

}  // namespace orrery

#include "training/trainer/transport/message_fields.h"  // IWYU pragma: export
