#include <fmt/format.h>

#include <algorithm>

#include "training/trainer/head/head.h"
#include "training/trainer/head/progress_line.h"
#include "training/trainer/head/run_progress.h"

namespace orrery {
namespace {

constexpr std::int64_t kProbeLeast = 1 << 15, kProbeMost = 1 << 20;  // floats
constexpr int kProbesSoon = 3;

}  // namespace

void Head::from_part(PartRole role, int id, Frame& frame) {
  PartState* const part = find(role, id);
  if (part == nullptr || over_) return;
  switch (frame.header.type) {
    case MessageType::Ready:
      return part_ready(*part, frame);
    case MessageType::Joined:
      if (role == PartRole::Worker && !part->joined && part->admitted) worker_joined(*part);
      return;
    case MessageType::Piece:
      return piece_came(role, id, frame);
    case MessageType::GradientDone:
      return gradient_done(frame);
    case MessageType::Applied:
      return update_applied(role, id, frame);
    case MessageType::RingFormed:
      return ring_formed(id, frame);
    case MessageType::LinkProbe:
      if (role == PartRole::Worker) link_shown(*part, frame);
      return;
    case MessageType::SendParameters:
      if (role == PartRole::Worker) parent_gives_nothing(frame.header.number);
      return;
    case MessageType::Snapshot:
      return snapshot_came(role, id, frame);
    case MessageType::Evaluated:
      if (role == PartRole::Evaluator) evaluated(frame);
      return;
    case MessageType::Validation:
      if (role == PartRole::Evaluator) validated(frame);
      return;
    case MessageType::Leaving:
      if (role != PartRole::Worker || !part->joined) return lose(role, id, "left early");
      part->dismissed = true;
      --workers_wanted_;
      conductor_->retire(WorkerId{id}, now());
      return pump();
    default:
      return part->line->close(invalid("the head is not asked for that"));
  }
}

void Head::piece_came(PartRole role, int from, Frame& frame) {
  if (role == PartRole::Shard) {
    tree_.got_bytes.resize(shards_.size());
    const auto shard = static_cast<std::size_t>(from);
    tree_.got_bytes[shard] += static_cast<double>(places_[shard].count()) * sizeof(float);
  }
  const auto found = flights_.find(frame.header.number);
  if (found == flights_.end()) return;
  auto piece = read_fields<PieceMessage>(frame.body);
  Flight& flight = found->second;
  ++flight.pieces;
  // A child may have handed in to the parent it had before the ring changed.
  const bool ring = architecture(options_) == Architecture::AllReduce;
  if (ring && std::ranges::find(ring_.ring, WorkerId{from}) == ring_.ring.end()) {
    flight.fault = "it lies with somebody who is no longer in the ring";
  }
  if (!piece.ok()) {
    flight.fault = piece.error().message;
  } else if (!piece.value().fault.empty()) {
    flight.fault = piece.value().fault;
  } else {
    flight.norm2 += piece.value().norm2;
    flight.dot_validation += piece.value().dot_validation;
    flight.norm2_validation += piece.value().norm2_validation;
  }
  complete(frame.header.number);
}

void Head::gradient_done(Frame& frame) {
  const auto found = flights_.find(frame.header.number);
  if (found == flights_.end()) return;
  auto message = read_fields<GradientMessage>(frame.body);
  if (!message.ok()) return;
  found->second.done = true;
  found->second.gradient = std::move(message).value().gradient;
  complete(frame.header.number);
}

void Head::complete(std::int64_t task) {
  const auto found = flights_.find(task);
  const bool ring = architecture(options_) == Architecture::AllReduce;
  const int needed = ring ? 1 : static_cast<int>(shards_.size());
  if (!found->second.done || found->second.pieces < needed) return;
  Flight flight = std::move(found->second);
  flights_.erase(found);
  PartState* const by = find(PartRole::Worker, static_cast<int>(flight.task.worker));
  // A new one is not left to the tick: until its link is known, a sum may wait for it.
  if (ring && by != nullptr && by->line && by->probes < kProbesSoon) probe_link(*by);
  if (shared_ && by != nullptr) {
    ShareTally::Took& took = share_.took[by->slot];
    took.sum_s += seconds(now() - flight.started);
    ++took.tasks;
  }
  if (!flight.fault.empty()) {
    conductor_->spoiled(task, flight.fault, now());
    return pump();
  }
  Gradient gradient = std::move(flight.gradient);
  gradient.task = task;
  gradient.norm2 = flight.norm2;
  gradient.dot_validation = flight.dot_validation;
  gradient.norm2_validation = flight.norm2_validation;
  add_usage(flight, gradient);
  // What a parent has merged into its own will not come by itself.
  for (const std::int64_t merged : gradient.merged) {
    flights_.erase(merged);
    for (const PartState& shard : shards_) {
      shard.line->send(MessageType::Drop, merged, Nothing{});
    }
  }
  samples_ready_[task] = gradient.samples;
  pace_->gradient(gradient.loss);
  conductor_->ready(gradient, now());
  pump();
}

void Head::add_usage(const Flight& flight, Gradient& gradient) {
  const PartState* const worker = find(PartRole::Worker, static_cast<int>(flight.task.worker));
  const double took = seconds(now() - flight.started);
  if (worker != nullptr) gradient.usage.way_s = std::min(worker->way_s, worker->way_before_s);
  if (!servers_ || worker == nullptr || worker->server < 0 || !(took > 0)) return;
  auto use = servers_->use(worker->server);
  if (!use.ok()) return;
  const ServerUse& after = use.value();
  gradient.usage.cpu_share = (after.cpu_s - flight.before.cpu_s) / took;
  gradient.usage.throttled_share = (after.throttled_s - flight.before.throttled_s) / took;
  gradient.usage.in_bytes_per_s = (after.in_bytes - flight.before.in_bytes) / took;
  gradient.usage.out_bytes_per_s = (after.out_bytes - flight.before.out_bytes) / took;
}

void Head::update_applied(PartRole role, int id, Frame& frame) {
  auto read = read_fields<AppliedMessage>(frame.body);
  if (!read.ok()) return;
  const AppliedMessage& applied = read.value();
  const ParameterVersion version = frame.header.number;
  if (role == PartRole::Worker) {
    if (applied.ok) ring_.holds[id] = version;
    if (version != ring_.flying || ring_.waiting.erase(id) == 0) return;
    ring_.any_done = ring_.any_done || applied.ok;
    ring_.any_failed = ring_.any_failed || !applied.ok;
    if (applied.ok) ring_.fresh_mean_norm2 = applied.fresh_mean_norm2;
    return check_ring_update();
  }
  const auto found = updates_.find(version);
  if (found == updates_.end()) return;
  found->second.fresh_mean_norm2 += applied.fresh_mean_norm2;
  if (--found->second.missing > 0) return;
  const double norm = found->second.fresh_mean_norm2;
  updates_.erase(found);
  conductor_->applied({.version = version, .at = now(), .fresh_mean_norm2 = norm}, now());
  pump();
}

// When everybody who is left has said how it went: it is done if anybody has done it, since the
// next ring takes the parameters over from there.
void Head::check_ring_update() {
  if (ring_.flying == 0 || !ring_.waiting.empty()) return;
  const ParameterVersion version = std::exchange(ring_.flying, 0);
  if (ring_.any_done) {
    ring_.version = version;
    samples_used_ += ring_.samples;
    conductor_->applied(
        {.version = version, .at = now(), .fresh_mean_norm2 = ring_.fresh_mean_norm2}, now());
  } else {
    conductor_->failed(version, {}, now());
  }
  pump();
}

void Head::parent_gives_nothing(std::int64_t task) {
  const auto found = flights_.find(task);
  if (found == flights_.end() || found->second.parent < 0 || shards_.empty()) return;
  found->second.parent = -1;
  ask_shards(found->second.task, true);
}

// In all-reduce every link of a ring seems as slow as the slowest, so each is asked by itself, with
// a part of what it carries in a sum.
void Head::probe_links() {
  constexpr std::int64_t kRarely = 5;
  if (architecture(options_) != Architecture::AllReduce) return;
  if (++ticks_ % (count_ > kProbeMost ? kRarely : 1) != 0) return;
  for (auto& [id, worker] : workers_) {
    if (worker.joined && worker.line) probe_link(worker);
  }
}

void Head::probe_link(PartState& worker) {
  const CountMessage probe{
      static_cast<std::int32_t>(std::clamp(count_ / 8, kProbeLeast, kProbeMost))};
  worker.line->send(MessageType::ProbeLink, ++worker.probes, probe);
}

void Head::link_shown(PartState& worker, const Frame& frame) {
  const double took = std::chrono::duration<double>(frame.arriving).count();
  double way_s = took * static_cast<double>(count_) / static_cast<double>(frame.header.floats);
  // Its first bytes come in one go; a link is no faster than it is said to be.
  if (options_.link > 0) {
    way_s = std::max(way_s, static_cast<double>(count_) * sizeof(float) / options_.link);
  }
  worker.way_before_s = worker.way_s;
  worker.way_s = way_s;
}

void Head::ring_formed(int worker, Frame& frame) {
  auto read = read_fields<RingFormedMessage>(frame.body);
  if (!read.ok() || frame.header.number != ring_.epoch) return;
  const bool member = std::ranges::find(ring_.ring, WorkerId{worker}) != ring_.ring.end();
  if (member && !read.value().ok) return ring_failed(frame.header.number, read.value().error);
  if (member) ring_record_.formed(worker);
  if (read.value().ok && member) {
    auto& held = ring_.holds[worker];
    held = std::max(held, ring_.version);
  }
}

// The Conductor hears of it with the next sum. Members that the others cannot reach would let every
// further ring fail.
void Head::ring_failed(std::int64_t epoch, const std::string& why) {
  if (finishing_) return;
  for (const int id : ring_record_.failed(epoch)) {
    const PartState* const worker = find(PartRole::Worker, id);
    if (worker == nullptr) continue;
    lose_worker(id, fmt::format("at {} was not reached by the others of its ring, or did not reach "
                                "them ({})",
                                worker->address, why));
    if (over_) return;
  }
}

void Head::look_at_ring() {
  constexpr auto kUsual = std::chrono::seconds(5);
  for (const int id : ring_record_.overdue(RingRecord::Clock::now(), kUsual)) {
    const PartState* const worker = find(PartRole::Worker, id);
    if (worker == nullptr || ring_record_.proven(id)) continue;
    tally_.warnings.push_back(
        fmt::format("worker {} at {} has not formed its ring for 5 s: can the others reach it?", id,
                    worker->address));
    progress_->say(tally_.warnings.back());
  }
}

}  // namespace orrery
