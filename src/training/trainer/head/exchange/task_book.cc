#include "training/trainer/head/exchange/task_book.h"

#include <algorithm>
#include <utility>

namespace orrery {

RunningTask& TaskBook::open(const Task& task) {
  RunningTask& opened = open_[task.number];
  opened = {.task = task, .started = run_.now()};
  const PartState* const worker = members_.connected(task.worker);
  if (worker == nullptr) return opened;
  if (const auto use = emulation_.use_of(*worker)) opened.before = *use;
  return opened;
}

RunningTask* TaskBook::find(std::int64_t task) {
  const auto found = open_.find(task);
  return found == open_.end() ? nullptr : &found->second;
}

void TaskBook::described(MessageFrame& frame) {
  RunningTask* const task = find(frame.header.number);
  auto message = read_fields<GradientMessage>(frame.body);
  if (task == nullptr || !message.ok()) return;
  task->done = true;
  task->gradient = std::move(message).value().gradient;
}

void TaskBook::piece_came(MessageFrame& frame, const std::string& fault) {
  RunningTask* const task = find(frame.header.number);
  if (task == nullptr) return;
  auto piece = read_fields<PieceMessage>(frame.body);
  ++task->pieces;
  if (!fault.empty()) task->fault = fault;
  if (!piece.ok()) {
    task->fault = piece.error().message;
  } else if (!piece.value().fault.empty()) {
    task->fault = piece.value().fault;
  } else {
    task->norm2 += piece.value().norm2;
    task->dot_validation += piece.value().dot_validation;
    task->norm2_validation += piece.value().norm2_validation;
  }
}

bool TaskBook::complete(std::int64_t task, int pieces_needed) {
  const auto found = open_.find(task);
  if (found == open_.end()) return false;
  if (!found->second.done || found->second.pieces < pieces_needed) return false;
  RunningTask whole = std::move(found->second);
  open_.erase(found);
  if (const auto* const by = members_.find(PartRole::Worker, static_cast<int>(whole.task.worker))) {
    emulation_.task_took(by->slot, seconds(run_.now() - whole.started));
  }
  give(std::move(whole));
  return true;
}

void TaskBook::give(RunningTask task) {
  if (!task.fault.empty()) {
    return session_.conductor->spoiled(task.task.number, task.fault, run_.now());
  }
  Gradient gradient = std::move(task.gradient);
  gradient.task = task.task.number;
  gradient.norm2 = task.norm2;
  gradient.dot_validation = task.dot_validation;
  gradient.norm2_validation = task.norm2_validation;
  add_usage(task, gradient);
  // What a parent has merged into its own gradient does not come by itself.
  for (const std::int64_t merged : gradient.merged) {
    open_.erase(merged);
    for (const PartState& shard : members_.shards()) {
      shard.line->send(MessageType::Drop, merged, Nothing{});
    }
  }
  if (StepLog* const steps = run_.log->steps()) {
    steps->gradient({.task = gradient.task,
                     .worker = static_cast<int>(task.task.worker),
                     .version = task.task.version,
                     .ordered_s = seconds(task.started),
                     .receive_s = gradient.receive_s,
                     .compute_s = gradient.compute_s,
                     .arrived_s = seconds(run_.now())});
  }
  samples_[gradient.task] = gradient.samples;
  run_.pace.gradient(gradient.loss);
  session_.conductor->ready(gradient, run_.now());
}

void TaskBook::add_usage(const RunningTask& task, Gradient& gradient) {
  const auto* const worker = members_.find(PartRole::Worker, static_cast<int>(task.task.worker));
  if (worker == nullptr) return;
  gradient.usage.way_s = std::min(worker->way_s, worker->way_before_s);
  const double took = seconds(run_.now() - task.started);
  const auto after = emulation_.use_of(*worker);
  if (!after || !(took > 0)) return;
  gradient.usage.cpu_share = (after->cpu_s - task.before.cpu_s) / took;
  gradient.usage.throttled_share = (after->throttled_s - task.before.throttled_s) / took;
  gradient.usage.in_bytes_per_s = (after->in_bytes - task.before.in_bytes) / took;
  gradient.usage.out_bytes_per_s = (after->out_bytes - task.before.out_bytes) / took;
}

void TaskBook::drop(std::int64_t task) {
  open_.erase(task);
  samples_.erase(task);
}

std::int64_t TaskBook::samples_of(std::span<const Term> terms) const {
  std::int64_t samples = 0;
  for (const Term& term : terms) {
    const auto found = samples_.find(term.task);
    if (found != samples_.end()) samples += found->second;
  }
  return samples;
}

void TaskBook::forget_samples(std::span<const Term> terms) {
  for (const Term& term : terms) samples_.erase(term.task);
}

ApplyMessage apply_message(const ApplyUpdate& order) {
  ApplyMessage message{.update = order.update};
  for (const Task& task : order.tasks) {
    message.fresh.push_back(task.version == order.update.version - 1 ? 1 : 0);
    message.workers.push_back(task.worker);
  }
  return message;
}

void TaskBook::clear() {
  open_.clear();
  samples_.clear();
}

}  // namespace orrery
