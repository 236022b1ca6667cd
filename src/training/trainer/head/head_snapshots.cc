#include <fmt/format.h>

#include <boost/asio/post.hpp>

#include "training/trainer/checkpoint/best_keeper.h"
#include "training/trainer/head/head.h"
#include "training/trainer/head/job_link.h"
#include "training/trainer/head/progress_line.h"
#include "training/trainer/head/run_progress.h"

namespace orrery {
namespace {

constexpr std::int32_t kValidationSamples = 256;

}  // namespace

void Head::ask_for_snapshot(Snapshot snapshot) {
  const std::int64_t number = next_number_++;
  const bool save = snapshot.use == SnapshotUse::Save;
  const auto count = static_cast<std::size_t>(count_);
  snapshot.parameters.resize(count);
  if (save) {
    snapshot.optimizer_state.resize(count * FlatOptimizer::state_per_parameter(options_.optimizer));
  }
  snapshot.samples = samples_used_;
  SnapshotMessage message{.optimizer = save};
  for (const PartState& shard : shards_) {
    snapshot.missing.insert(shard.id);
    shard.line->send(MessageType::TakeSnapshot, number, message);
  }
  for (const WorkerId member : ring_.ring) {
    const PartState* const worker = find(PartRole::Worker, static_cast<int>(member));
    // A member whose part of the newest sum failed does not have the newest parameters.
    if (worker == nullptr || !worker->line || !holds_newest(member)) continue;
    // One copy is enough; for a checkpoint all are compared by their hash.
    message.floats = snapshot.missing.empty();
    if (!save && !message.floats) break;
    snapshot.missing.insert(worker->id);
    worker->line->send(MessageType::TakeSnapshot, number, message);
  }
  if (!snapshot.missing.empty()) snapshots_[number] = std::move(snapshot);
}

// Whoever was asked and is gone: ask the others instead.
void Head::ask_others(int lost) {
  std::vector<Snapshot> again;
  for (auto at = snapshots_.begin(); at != snapshots_.end();) {
    if (!at->second.missing.contains(lost)) {
      ++at;
      continue;
    }
    at->second.missing.clear();
    again.push_back(std::move(at->second));
    at = snapshots_.erase(at);
  }
  for (Snapshot& snapshot : again) ask_for_snapshot(std::move(snapshot));
}

void Head::snapshot_came(PartRole role, int id, Frame& frame) {
  const auto found = snapshots_.find(frame.header.number);
  auto read = read_fields<SnapshotMessage>(frame.body);
  if (found == snapshots_.end() || !read.ok()) return;
  Snapshot& snapshot = found->second;
  if (snapshot.missing.erase(id) == 0) return;
  const SnapshotMessage& message = read.value();
  snapshot.batches = message.batches;
  if (role == PartRole::Worker) {
    // It was asked for again after a death, and the ring has gone on meanwhile.
    const bool dated = snapshot.use != SnapshotUse::Validate;
    if (dated && message.version != snapshot.version) {
      tally_.evaluations_skipped += snapshot.use == SnapshotUse::Evaluate ? 1 : 0;
      snapshots_.erase(found);
      return maybe_done();
    }
    if (snapshot.hash != 0 && snapshot.hash != message.hash) {
      return end_with(
          {Code::Internal, fmt::format("the copies of version {} differ", message.version)});
    }
    snapshot.hash = message.hash;
  }
  if (!frame.floats.empty()) {
    const ShardPlace whole{.ranges = {{.first = 0, .count = count_}}};
    const ShardPlace& place =
        role == PartRole::Shard ? places_[static_cast<std::size_t>(id)] : whole;
    const auto count = static_cast<std::size_t>(place.count());
    const std::size_t runs = 1 + (snapshot.use == SnapshotUse::Save
                                      ? FlatOptimizer::state_per_parameter(options_.optimizer)
                                      : 0);
    if (frame.floats.size() != count * runs) {
      return end_with({Code::Internal, "a snapshot of the wrong length"});
    }
    const std::span<const float> floats = frame.floats;
    scatter(floats.first(count), place, snapshot.parameters);
    for (std::size_t run = 1; run < runs; ++run) {
      scatter(floats.subspan(run * count, count), place,
              std::span(snapshot.optimizer_state)
                  .subspan((run - 1) * static_cast<std::size_t>(count_),
                           static_cast<std::size_t>(count_)));
    }
  }
  if (!snapshot.missing.empty()) return;
  Snapshot whole = std::move(snapshot);
  snapshots_.erase(found);
  use_snapshot(whole);
}

void Head::use_snapshot(Snapshot& snapshot) {
  if (snapshot.use == SnapshotUse::Save) return save(snapshot);
  auto parameters = std::make_shared<std::vector<float>>(std::move(snapshot.parameters));
  if (snapshot.use == SnapshotUse::Validate) {
    if (evaluator_.ready && evaluator_.line) {
      evaluator_.line->send(MessageType::Validate, 0, ValidateMessage{kValidationSamples},
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

void Head::send_evaluation(std::int64_t number) {
  if (!evaluator_.ready || !evaluator_.line) return;  // when it is there again
  const auto parameters = evaluations_.at(number).parameters;
  evaluator_.line->send(MessageType::Evaluate, number, Nothing{},
                        {.floats = {*parameters}, .keep = parameters, .sent = {}});
}

void Head::evaluated(Frame& frame) {
  const auto found = evaluations_.find(frame.header.number);
  auto read = read_fields<EvaluatedMessage>(frame.body);
  if (found == evaluations_.end() || !read.ok()) return;
  if (!read.value().error.empty()) {
    return end_with(Error{Code::Internal, read.value().error}.at("evaluating"));
  }
  const PendingEvaluation pending = std::move(found->second);
  evaluations_.erase(found);
  const Evaluation& evaluation = read.value().evaluation;
  const CurvePoint point{.at_s = seconds(pending.at),
                         .version = pending.version,
                         .samples = pending.samples,
                         .accuracy = evaluation.accuracy,
                         .loss = evaluation.loss};
  tally_.curve.push_back(point);
  log_->curve(point);
  pace_->evaluated(evaluation.accuracy);
  judge_best(pending, {.version = pending.version,
                       .at_s = point.at_s,
                       .samples = pending.samples,
                       .accuracy = evaluation.accuracy,
                       .loss = evaluation.loss});
  conductor_->evaluated({.version = pending.version,
                         .at = pending.at,
                         .accuracy = evaluation.accuracy,
                         .loss = evaluation.loss},
                        now());
  pump();
}

void Head::validated(Frame& frame) {
  validating_ = false;
  if (frame.floats.size() != static_cast<std::size_t>(count_)) return;
  for (const PartState& shard : shards_) {
    auto piece = std::make_shared<std::vector<float>>(
        gather(frame.floats, places_[static_cast<std::size_t>(shard.id)]));
    shard.line->send(MessageType::Validation, frame.header.number, Nothing{},
                     {.floats = {*piece}, .keep = piece, .sent = {}});
  }
}

Checkpoint Head::checkpoint_at(const ConductorState& state, Time at) const {
  return {.conductor = state,
          .elapsed_s = seconds(at),
          .model = options_.learner.model,
          .data = options_.learner.data,
          .optimizer = options_.optimizer.kind,
          .seed = options_.learner.seed,
          .tensors = tensors_};
}

void Head::judge_best(const PendingEvaluation& pending, const Judgement& judged) {
  if (!best_->improves(judged)) return;
  auto checkpoint = std::make_shared<Checkpoint>(checkpoint_at(pending.state, pending.at));
  checkpoint->parameters = *pending.parameters;
  checkpoint->judged = judged;
  best_->keep(std::move(checkpoint));
}

void Head::save(Snapshot& snapshot) {
  auto checkpoint = std::make_shared<Checkpoint>(checkpoint_at(snapshot.state, snapshot.at));
  checkpoint->optimizer_batches = snapshot.batches;
  checkpoint->parameters = std::move(snapshot.parameters);
  checkpoint->optimizer_state = std::move(snapshot.optimizer_state);
  ++saving_;
  boost::asio::post(writer_, [this, checkpoint, folder = folder_, keep = options_.keep] {
    auto status = std::make_shared<Status>(write_checkpoint(folder, *checkpoint, keep));
    boost::asio::post(io_, [this, status, checkpoint] { saved(*status, checkpoint->conductor); });
  });
}

void Head::saved(const Status& status, const ConductorState& state) {
  --saving_;
  note_save_failure(status);
  if (!status.ok()) {
    run_end_.checkpoint_failed(status.error());
  } else {
    run_end_.checkpoint_saved(state.version);
    ++tally_.checkpoints;
    job_->checkpointed(state.samples_done / options_.batch);
  }
  maybe_done();
}

// Training goes on; the checkpoint before is still there.
void Head::note_save_failure(const Status& status) {
  if (status.ok()) return;
  tally_.warnings.push_back(status.error().message);
  progress_->say(status.error().message);
}

}  // namespace orrery
