// Transfers between the stages of a pipeline: which computation sends and which waits.
#include <fmt/format.h>

#include <algorithm>

#include "training/step_trace/graph_builder.h"

namespace orrery {

using enum OperationKind;

namespace {

constexpr double kClockError_s = 5e-5;  // between the clocks of two streams

bool is_send(OperationKind kind) { return kind == ForwardSend || kind == BackwardSend; }

OperationKind computation_of(OperationKind kind) {
  return kind == ForwardSend || kind == ForwardReceive ? ForwardCompute : BackwardCompute;
}

// In the model's chunks, where the other end of a transfer is.
int direction(OperationKind kind) {
  return kind == ForwardSend || kind == BackwardReceive ? 1 : -1;
}

}  // namespace

Status GraphBuilder::link_stages() {
  std::array<std::vector<Operations>, kOperationKinds> real;
  for (const OperationKind kind : {ForwardSend, ForwardReceive, BackwardSend, BackwardReceive}) {
    real[index(kind)].resize(static_cast<std::size_t>(stages_));
    for (int stage = 0; stage < stages_; ++stage) {
      TRY(match_transfers(stage, kind, real[index(kind)][static_cast<std::size_t>(stage)]));
    }
  }
  TRY(pair_transfers(ForwardSend, real[index(ForwardSend)], ForwardReceive,
                     real[index(ForwardReceive)]));
  return pair_transfers(BackwardSend, real[index(BackwardSend)], BackwardReceive,
                        real[index(BackwardReceive)]);
}

// Gives the transfers of one kind their computations, in order. `real` becomes those that have
// another end; the others were recorded although nothing was sent.
Status GraphBuilder::match_transfers(int stage, OperationKind kind, Operations& real) {
  const Operations computations = of_stage(stage, {computation_of(kind)});
  const Operations transfers = of_stage(stage, {kind});
  if (transfers.empty()) return {};
  if (computations.empty()) {
    return wrong(transfers.front(), "has no computation to send to or receive from");
  }
  double last_start = at(computations.front()).start_s,
         first_end = at(computations.front()).end_s();
  for (const std::size_t i : computations) {
    last_start = std::max(last_start, at(i).start_s);
    first_end = std::min(first_end, at(i).end_s());
  }
  // A receive after the last computation, or a send before the end of the first, moved nothing.
  const auto moves = [&](std::size_t i) {
    return is_send(kind) ? at(i).end_s() >= first_end - kClockError_s
                         : at(i).start_s <= last_start + kClockError_s;
  };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(transfers, moves));
  TRY_ASSIGN(int sequence, first_computation(stage, kind, count, computations.size()));
  const int chunks = recorded_.shape.chunks_of_stage * stages_;
  for (const std::size_t i : transfers) {
    if (!moves(i)) continue;
    const auto computation = find(computation_of(kind), stage, sequence++);
    if (!computation) return wrong(i, "has no computation of its number");
    link_transfer(i, kind, *computation);
    const int there = at(*computation).global_chunk + direction(kind);
    if (there >= 0 && there < chunks) real.push_back(i);
  }
  for (const std::size_t i : transfers) {
    if (std::ranges::find(real, i) == real.end()) group({i}, false);
  }
  return {};
}

// The number of the first computation with a transfer. At the ends of the pipeline one may lack it.
Result<int> GraphBuilder::first_computation(int stage, OperationKind kind, std::size_t transfers,
                                            std::size_t computations) const {
  if (transfers == computations) return 0;
  const bool at_end = stage == 0 || stage == stages_ - 1;
  if (at_end && transfers == 0) return 0;
  if (at_end && transfers + 1 == computations) return is_send(kind) ? 0 : 1;
  return wrong_stage(
      stage, fmt::format("has {} {} for {} {}; each needs one", transfers, traits(kind).name,
                         computations, traits(computation_of(kind)).name));
}

void GraphBuilder::link_transfer(std::size_t transfer, OperationKind kind,
                                 std::size_t computation) {
  if (is_send(kind)) return need(transfer, computation);
  need(computation, transfer);
  // Nothing is received ahead of the computation before.
  const StepOperation& after = at(computation);
  if (after.sequence == 0) return;
  if (const auto before = find(after.kind, after.stage, after.sequence - 1)) {
    need(transfer, *before);
  }
}

Status GraphBuilder::pair_transfers(OperationKind send, const std::vector<Operations>& sends,
                                    OperationKind receive,
                                    const std::vector<Operations>& receives) {
  for (int stage = 0; stage < stages_; ++stage) {
    const int there = (stage + direction(send) + stages_) % stages_;
    const Operations& sent = sends[static_cast<std::size_t>(stage)];
    const Operations& received = receives[static_cast<std::size_t>(there)];
    if (sent.size() != received.size()) {
      return wrong_stage(
          stage, fmt::format("has {} {} to stage {}, which has {} {}", sent.size(),
                             traits(send).name, there, received.size(), traits(receive).name));
    }
    for (std::size_t i = 0; i < sent.size(); ++i) group({sent[i], received[i]}, false);
  }
  return {};
}

// The first backward transfers are begun one forward pass before the first backward pass, so they
// need the pass before that.
Status GraphBuilder::delay_first_backward(int stage) {
  const Operations computations = of_stage(stage, {ForwardCompute, BackwardCompute});
  const auto backward = std::ranges::find_if(
      computations, [this](std::size_t i) { return at(i).kind == BackwardCompute; });
  if (backward == computations.end() || backward - computations.begin() < 2) return {};
  for (const OperationKind kind : {BackwardReceive, BackwardSend}) {
    if (const auto first = find(kind, stage, 0)) need(*first, *(backward - 2));
  }
  return {};
}

}  // namespace orrery
