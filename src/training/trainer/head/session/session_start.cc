#include "training/trainer/head/session/session_start.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "training/trainer/run_folder/experience.h"
#include "training/trainer/transport/addresses.h"
#include "training/trainer/transport/setup.h"

namespace orrery {
namespace {

bool same(const std::vector<TensorPlace>& a, const std::vector<TensorPlace>& b) {
  return std::ranges::equal(a, b, [](const TensorPlace& x, const TensorPlace& y) {
    return x.name == y.name && x.first == y.first && x.count == y.count;
  });
}

}  // namespace

Status SessionStart::begin(const Checkpoint* from, int workers_first, int workers_own) {
  workers_first_ = run_.options.members ? 1 : workers_first;
  ++session_.number;
  session_.from.reset();
  session_.tensors.clear();
  take_over_.reset();
  if (from != nullptr) session_.from = *from;
  TRY(make_conductor());
  exchange_.begin(session_.conductor->state().version);
  if (session_.number == 1 && session_.from) {
    run_.clock.set(from_seconds(session_.from->elapsed_s));
  }
  TRY(members_.start_evaluator());
  if (run_.options.members) return {};
  members_.want(workers_own);
  members_.grow();
  return {};
}

Status SessionStart::make_conductor() {
  const RunOptions& options = run_.options;
  ConductorOptions with{.architecture = architecture(options),
                        .workers_first = workers_first_,
                        .global_batch = options.batch,
                        .blocks = blocks_for(options),
                        .target_accuracy = options.target,
                        .target_over = options.target_over,
                        .spoiled_most = options.spoiled_most,
                        .states_with_updates = options.members};
  TRY_ASSIGN(with.rate, rate_rule(options));
  with.evaluate_every = evaluation_distance(options.evaluate_every, options.batch);
  // Without a distance there is one checkpoint: when the run is stopped.
  constexpr auto kAtTheEnd = std::numeric_limits<std::int64_t>::max();
  with.checkpoint_every = options.checkpoint_every > 0 ? options.checkpoint_every
                          : run_.own_folder            ? 0
                                                       : kAtTheEnd;
  if (with.checkpoint_every > 0) run_.end.promise_checkpoint();
  with.samples_limit = samples_limit(options);
  std::unique_ptr<IterationPredictor> predictor;
  if (!options.predictor.empty()) {
    auto loaded = run_.ports.load_predictor(options.predictor);
    if (!loaded.ok()) return std::move(loaded).error().at("--predictor");
    predictor = std::move(loaded).value();
  }
  TRY_ASSIGN(SelectorStart selector, selector_start(options, run_.ports));
  const bool with_trees =
      options.tree == "auto" && emulation_.carries_links() && !run_.all_reduce();
  TRY_ASSIGN(Direction direction,
             choose_direction(options, std::move(predictor), std::move(selector),
                              emulation_.grant(), run_.log.get(), with_trees));
  if (!direction.experience.empty()) run_.progress.say(direction.experience);
  emulation_.end_session();
  ConductorState state = session_.from ? session_.from->conductor : ConductorState{};
  state.next_task = std::max(state.next_task, first_task_of(options.epoch));
  if (!session_.from) state.mode = direction.mode;
  session_.director = direction.director.get();
  session_.trees = direction.trees;
  session_.conductor = std::make_unique<Conductor>(with, std::move(direction.director), state);
  session_.samples_used = state.samples_done;
  session_.batches_reported = session_.samples_used / options.batch;
  return {};
}

std::string SessionStart::setup_for(const PartState& part, const Host& host,
                                    const MeetingPlace* meeting) const {
  PartSetup setup{.architecture = architecture(run_.options),
                  .learner = run_.options.learner,
                  .optimizer = run_.options.optimizer,
                  .ring_patience_s = run_.options.ring_patience_s};
  setup.learner.held_out = held_out_for(run_.options);
  setup.learner.place = part.place;
  setup.head_listens = host.address();
  if (part.role == PartRole::Shard) setup.parameters = exchange_.place_of(part).count();
  if (meeting != nullptr) {
    setup.meeting_host = reachable(host.address(), part.line->own_address());
    setup.meeting_port = meeting->port();
  }
  return setup_text(setup);
}

Status SessionStart::part_ready(PartState& part, MessageFrame& frame) {
  ReadyMessage ready;
  if (!take(*part.line, frame, ready)) return {};
  if (!ready.error.empty()) {
    const Error error{static_cast<Code>(ready.error_code), ready.error};
    if (run_.training()) return error;
    run_.fail(error);  // what goes wrong before training goes wrong again: a missing file
    return {};
  }
  part.address = ready.address;
  part.port = ready.port;
  part.gpu = ready.gpu;
  part.held = std::move(ready.held);
  part.ready = true;
  if (part.role == PartRole::Evaluator) {
    if (session_.tensors.empty()) evaluator_ready(ready, frame);  // else it replaces another one
  } else if (part.role == PartRole::Shard) {
    admit_if_ready();
  } else if (!session_.tensors.empty() && !same(ready.tensors, session_.tensors)) {
    run_.progress.say(fmt::format("worker {} has another model", part.id));
    return Error{Code::InvalidArgument, "it has another model"};
  } else {
    admit(part);
    members_.grow();
  }
  return {};
}

void SessionStart::evaluator_ready(const ReadyMessage& ready, MessageFrame& frame) {
  session_.tensors = ready.tensors;
  session_.parameter_count = 0;
  for (const TensorPlace& tensor : session_.tensors) session_.parameter_count += tensor.count;
  if (session_.tensors.empty() ||
      frame.floats.size() != static_cast<std::size_t>(session_.parameter_count)) {
    return run_.fail({Code::Internal, "the evaluator's model has no shape"});
  }
  session_.first_parameters = std::move(frame.floats);
  if (session_.from && !same(session_.from->tensors, session_.tensors)) {
    return run_.fail(invalid("the checkpoint is of another model"));
  }
  if (const Status started = exchange_.start(); !started.ok()) return run_.fail(started.error());
  admit_if_ready();
}

void SessionStart::admit_if_ready() {
  if (session_.tensors.empty() || !exchange_.ready()) return;
  if (run_.options.members) settle();
  if (run_.over) return;
  const bool goes_on = take_over_ && take_over_->goes_on;
  for (PartState& shard : members_.shards()) {
    if (goes_on) {
      go_on(shard, take_over_->missing[static_cast<std::size_t>(shard.id)]);
    } else {
      send_state(shard, exchange_.place_of(shard));
    }
  }
  for (auto& [id, worker] : members_.workers()) admit(worker);
}

void SessionStart::settle() {
  std::vector<ShardHolding> held;
  for (const PartState& shard : members_.shards()) held.push_back(shard.held);
  take_over_ = take_over(held);
  if (take_over_->goes_on) {
    session_.from = Checkpoint{.conductor = take_over_->state, .elapsed_s = take_over_->elapsed_s};
    run_.log->process(
        take_over_->elapsed_s, "head", static_cast<int>(run_.options.epoch), getpid(),
        fmt::format("goes on from version {} of the shards", take_over_->state.version));
  } else {
    auto found = newest_checkpoint(run_.folder);
    if (found.ok()) {
      for (const std::string& damaged : found.value().damaged) run_.warn(damaged);
      session_.from = std::move(found).value().checkpoint;
      if (!same(session_.from->tensors, session_.tensors)) {
        return run_.fail(invalid("the checkpoint is of another model"));
      }
    } else if (found.error().code != Code::NotFound) {
      return run_.fail(found.error());
    }
    const std::string from = session_.from ? fmt::format("the checkpoint of version {}",
                                                         session_.from->conductor.version)
                                           : "the beginning";
    run_.log->process(session_.from ? session_.from->elapsed_s : 0, "head",
                      static_cast<int>(run_.options.epoch), getpid(),
                      take_over_->why.empty() ? "starts from " + from
                                              : take_over_->why + "; starts from " + from);
  }
  if (const Status made = make_conductor(); !made.ok()) return run_.fail(made.error());
  if (session_.from) run_.clock.set(from_seconds(session_.from->elapsed_s));
}

void SessionStart::go_on(PartState& shard, const std::vector<ApplyMessage>& missing) {
  for (const ApplyMessage& update : missing) {
    shard.line->send(MessageType::Apply, update.update.version, update);
  }
  shard.line->send(MessageType::LoadState, first_task_of(run_.options.epoch) - 1,
                   SnapshotMessage{.floats = false, .version = take_over_->state.version});
}

void SessionStart::admit(PartState& worker) {
  if (!worker.ready || worker.admitted || session_.tensors.empty() || !exchange_.ready()) return;
  worker.admitted = true;
  PeersMessage peers{.id = worker.id};
  for (const PartState& shard : members_.shards()) {
    peers.places.push_back(exchange_.place_of(shard));
    peers.shards.emplace_back(RunMembers::address_of(shard, worker), shard.port);
  }
  worker.line->send(MessageType::Peers, 0, peers);
}

void SessionStart::send_state(PartState& part, const ShardPlace& place) {
  SnapshotMessage message{.optimizer = true, .version = session_.conductor->state().version};
  const std::optional<Checkpoint>& from = session_.from;
  const auto& parameters = from ? from->parameters : session_.first_parameters;
  auto values = std::make_shared<std::vector<float>>(gather(parameters, place));
  if (from) {
    message.batches = from->optimizer_batches;
    const std::span<const float> state = from->optimizer_state;
    const auto count = static_cast<std::size_t>(session_.parameter_count);
    for (std::size_t at = 0; at + count <= state.size(); at += count) {
      const auto part_of_it = gather(state.subspan(at, count), place);
      values->insert(values->end(), part_of_it.begin(), part_of_it.end());
    }
  }
  part.line->send(MessageType::LoadState, 0, message,
                  {.floats = {*values}, .keep = values, .sent = {}});
}

void SessionStart::worker_joined(PartState& worker) {
  if (run_.finishing) return;
  if (!run_.training() && run_.all_reduce()) {
    send_state(worker, exchange_.place_of(worker));
    exchange_.worker_has(worker.id, session_.conductor->state().version);
  }
  worker.joined = true;
  run_.log->process(seconds(run_.now()), "worker", worker.id, worker.pid, "joined");
  if (run_.training()) {
    run_.worker_clocks.join(worker.id, worker.pid, run_.now());
    session_.conductor->join(WorkerId{worker.id}, run_.now());
    members_.grow();
    return run_.pump();
  }
  if (members_.joined() >= workers_first_) begin_training();
}

void SessionStart::begin_training() {
  run_.clock.begin();
  run_.pace.begin(session_.samples_used, seconds(run_.now()));
  for (auto& [id, worker] : members_.workers()) {
    if (!worker.joined) continue;
    run_.worker_clocks.join(id, worker.pid, run_.now());
    session_.conductor->join(WorkerId{id}, run_.now());
  }
  if (const Status begun = emulation_.begin_training(); !begun.ok()) {
    return run_.fail(begun.error());
  }
  const double limit_s = run_.pace.goal().time_s;
  if (limit_s > 0 && seconds(run_.now()) >= limit_s) {
    session_.conductor->finish("the time was up", run_.now());  // in an earlier session
  }
  run_.pump();
}

}  // namespace orrery
