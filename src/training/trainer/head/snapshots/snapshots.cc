#include "training/trainer/head/snapshots/snapshots.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "training/trainer/shard/flat_optimizer.h"

namespace orrery {
namespace {

constexpr std::int32_t kValidationSamples = 256;

}  // namespace

Snapshots::Snapshots(RunContext& run, TrainingSession& session, RunMembers& members,
                     ParameterExchange& exchange, std::function<void()> done)
    : run_(run),
      session_(session),
      members_(members),
      exchange_(exchange),
      done_(std::move(done)),
      best_(
          run.io, run.writer, run.own_folder ? "" : run.folder,
          [this](const Status& status) {
            note(best_writes_, status);
            done_();
          },
          [&run](const auto& write) { return run.log->guarded(write); }) {}

bool Snapshots::busy() const {
  return !snapshots_.empty() || !evaluations_.empty() || saving_ > 0 || best_.busy();
}

void Snapshots::clear() {
  snapshots_.clear();
  evaluations_.clear();
  validating_ = false;
}

void Snapshots::save(ParameterVersion version) {
  ask({.use = Use::Save,
       .version = version,
       .at = run_.now(),
       .state = session_.conductor->state()});
}

void Snapshots::evaluate(const EvaluateVersion& order) {
  constexpr std::size_t kWaitingMost = 8;
  if (!session_.conductor->finished() && evaluations_.size() >= kWaitingMost) {
    ++run_.tally.evaluations_skipped;
    return;
  }
  ask({.use = Use::Evaluate, .version = order.version, .at = run_.now(), .state = order.state});
}

// One at a time: a rule that refuses every gradient asks faster than the evaluator answers.
void Snapshots::refresh_validation() {
  if (std::exchange(validating_, true)) return;
  ask({.use = Use::Validate, .at = run_.now()});
}

void Snapshots::ask(ParameterSnapshot snapshot) {
  const std::int64_t number = next_number_++;
  const bool save = snapshot.use == Use::Save;
  const auto count = static_cast<std::size_t>(session_.parameter_count);
  snapshot.parameters.resize(count);
  if (save) {
    snapshot.optimizer_state.resize(count *
                                    FlatOptimizer::state_per_parameter(run_.options.optimizer));
  }
  snapshot.samples = session_.samples_used;
  snapshot.missing = exchange_.ask_for_parameters(number, save);
  if (!snapshot.missing.empty()) snapshots_[number] = std::move(snapshot);
}

void Snapshots::ask_others(int lost) {
  std::vector<ParameterSnapshot> again;
  for (auto at = snapshots_.begin(); at != snapshots_.end();) {
    if (!at->second.missing.contains(lost)) {
      ++at;
      continue;
    }
    again.push_back(std::move(at->second));
    at = snapshots_.erase(at);
  }
  for (ParameterSnapshot& snapshot : again) ask(std::move(snapshot));
}

void Snapshots::came(PartRole role, int id, MessageFrame& frame) {
  const auto found = snapshots_.find(frame.header.number);
  auto read = read_fields<SnapshotMessage>(frame.body);
  if (found == snapshots_.end() || !read.ok()) return;
  ParameterSnapshot& snapshot = found->second;
  if (snapshot.missing.erase(id) == 0) return;
  const SnapshotMessage& message = read.value();
  snapshot.batches = message.batches;
  if (role == PartRole::Worker) {
    // It was asked for again after a death, and the ring has gone on meanwhile.
    const bool dated = snapshot.use != Use::Validate;
    if (dated && message.version != snapshot.version) {
      run_.tally.evaluations_skipped += snapshot.use == Use::Evaluate ? 1 : 0;
      snapshots_.erase(found);
      return done_();
    }
    if (!agrees(message, snapshot)) return;
  }
  const PartState* const from = members_.find(role, id);
  if (from == nullptr || !take_floats(*from, frame.floats, snapshot)) return;
  if (!snapshot.missing.empty()) return;
  ParameterSnapshot whole = std::move(snapshot);
  snapshots_.erase(found);
  use(whole);
}

bool Snapshots::agrees(const SnapshotMessage& message, ParameterSnapshot& snapshot) {
  if (snapshot.hash != 0 && snapshot.hash != message.hash) {
    run_.fail({Code::Internal, fmt::format("the copies of version {} differ", message.version)});
    return false;
  }
  snapshot.hash = message.hash;
  return true;
}

bool Snapshots::take_floats(const PartState& from, std::span<const float> floats,
                            ParameterSnapshot& snapshot) {
  if (floats.empty()) return true;
  const ShardPlace place = exchange_.place_of(from);
  const auto count = static_cast<std::size_t>(place.count());
  const auto all = static_cast<std::size_t>(session_.parameter_count);
  const std::size_t runs =
      1 +
      (snapshot.use == Use::Save ? FlatOptimizer::state_per_parameter(run_.options.optimizer) : 0);
  if (floats.size() != count * runs) {
    run_.fail({Code::Internal, "a snapshot of the wrong length"});
    return false;
  }
  scatter(floats.first(count), place, snapshot.parameters);
  for (std::size_t run = 1; run < runs; ++run) {
    scatter(floats.subspan(run * count, count), place,
            std::span(snapshot.optimizer_state).subspan((run - 1) * all, all));
  }
  return true;
}

void Snapshots::use(ParameterSnapshot& snapshot) {
  if (snapshot.use == Use::Save) return write(snapshot);
  auto parameters = std::make_shared<std::vector<float>>(std::move(snapshot.parameters));
  if (snapshot.use == Use::Validate) {
    const PartState& evaluator = members_.evaluator();
    if (evaluator.ready && evaluator.line) {
      evaluator.line->send(MessageType::Validate, 0, ValidateMessage{kValidationSamples},
                           {.floats = {*parameters}, .keep = parameters, .sent = {}});
    } else {
      validating_ = false;
    }
    return;
  }
  const std::int64_t number = next_number_++;
  evaluations_[number] = {.version = snapshot.version,
                          .at = snapshot.at,
                          .samples = snapshot.samples,
                          .state = std::move(snapshot.state),
                          .parameters = std::move(parameters)};
  send_evaluation(number);
}

void Snapshots::send_evaluation(std::int64_t number) {
  const PartState& evaluator = members_.evaluator();
  if (!evaluator.ready || !evaluator.line) return;  // when it is there again
  const auto parameters = evaluations_.at(number).parameters;
  evaluator.line->send(MessageType::Evaluate, number, Nothing{},
                       {.floats = {*parameters}, .keep = parameters, .sent = {}});
}

void Snapshots::send_evaluations() {
  for (const auto& [number, evaluation] : evaluations_) send_evaluation(number);
}

void Snapshots::evaluated(MessageFrame& frame) {
  const auto found = evaluations_.find(frame.header.number);
  auto read = read_fields<EvaluatedMessage>(frame.body);
  if (found == evaluations_.end() || !read.ok()) return;
  if (!read.value().error.empty()) {
    return run_.fail(Error{Code::Internal, read.value().error}.at("evaluating"));
  }
  const PendingEvaluation pending = std::move(found->second);
  evaluations_.erase(found);
  const Evaluation& evaluation = read.value().evaluation;
  const EvaluatedVersion point{.at_s = seconds(pending.at),
                               .version = pending.version,
                               .samples = pending.samples,
                               .accuracy = evaluation.accuracy,
                               .loss = evaluation.loss};
  run_.curve.push_back(point);
  run_.log->curve(point);
  run_.pace.evaluated(evaluation.accuracy);
  keep_if_best(pending, point);
  session_.conductor->evaluated({.version = pending.version,
                                 .at = pending.at,
                                 .accuracy = evaluation.accuracy,
                                 .loss = evaluation.loss},
                                run_.now());
  run_.pump();
}

void Snapshots::validated(MessageFrame& frame) {
  validating_ = false;
  if (frame.floats.size() != static_cast<std::size_t>(session_.parameter_count)) return;
  exchange_.send_validation(frame.header.number, frame.floats);
}

Checkpoint Snapshots::checkpoint_at(const ConductorState& state, Time at) const {
  return {.conductor = state,
          .elapsed_s = seconds(at),
          .model = run_.options.learner.model,
          .data = run_.options.learner.data,
          .optimizer = run_.options.optimizer.kind,
          .seed = run_.options.learner.seed,
          .tensors = session_.tensors};
}

void Snapshots::keep_if_best(const PendingEvaluation& pending, const EvaluatedVersion& judged) {
  if (!best_.improves(judged)) return;
  auto checkpoint = std::make_shared<Checkpoint>(checkpoint_at(pending.state, pending.at));
  checkpoint->parameters = *pending.parameters;
  checkpoint->judged = judged;
  best_.keep(std::move(checkpoint));
}

void Snapshots::write(ParameterSnapshot& snapshot) {
  auto checkpoint = std::make_shared<Checkpoint>(checkpoint_at(snapshot.state, snapshot.at));
  checkpoint->optimizer_batches = snapshot.batches;
  checkpoint->parameters = std::move(snapshot.parameters);
  checkpoint->optimizer_state = std::move(snapshot.optimizer_state);
  ++saving_;
  boost::asio::post(run_.writer, [this, &io = run_.io, checkpoint, folder = run_.folder,
                                  keep = run_.options.keep] {
    auto status = std::make_shared<Status>(write_checkpoint(
        folder, *checkpoint, keep, [this](const auto& write) { return run_.log->guarded(write); }));
    boost::asio::post(io, [this, status, checkpoint] { saved(*status, *checkpoint); });
  });
}

void Snapshots::saved(const Status& status, const Checkpoint& checkpoint) {
  const ConductorState& state = checkpoint.conductor;
  --saving_;
  note(saves_, status);
  if (!status.ok()) {
    run_.end.checkpoint_failed(status.error());
  } else {
    run_.end.checkpoint_saved(state.version);
    ++run_.tally.checkpoints;
    const std::size_t floats = checkpoint.parameters.size() + checkpoint.optimizer_state.size();
    run_.log->checkpoint({.at_s = checkpoint.elapsed_s,
                          .version = state.version,
                          .gradients = state.gradients_done,
                          .bytes = static_cast<std::int64_t>(floats * sizeof(float)),
                          .save_s = seconds(run_.now()) - checkpoint.elapsed_s});
    run_.job.checkpointed(state.samples_done / run_.options.batch);
  }
  done_();
}

void Snapshots::note(FailureReports& reports, const Status& written) {
  const auto report = written.ok() ? reports.worked(run_.now())
                                   : reports.failed(written.error().message, run_.now());
  if (report) run_.warn(*report);
}

}  // namespace orrery
