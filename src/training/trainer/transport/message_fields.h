#pragma once

#include "training/trainer/transport/messages.h"

namespace orrery {

template <class A>
void fields(A& a, Hello& m) {
  a(m.role, m.id, m.pid);
}
template <class A>
void fields(A& a, PulseMessage& m) {
  a(m.role, m.id);
}
template <class A>
void fields(A& a, Text& m) {
  a(m.text, m.ok);
}
template <class A>
void fields(A& a, TensorPlace& m) {
  a(m.name, m.first, m.count);
}
template <class A>
void fields(A& a, ShardHolding& m) {
  a(m.version, m.updates);
}
template <class A>
void fields(A& a, ReadyMessage& m) {
  a(m.error, m.error_code, m.tensors, m.training_samples, m.address, m.port, m.gpu, m.held);
}
template <class A>
void fields(A& a, FlatRange& m) {
  a(m.first, m.count);
}
template <class A>
void fields(A& a, ShardPlace& m) {
  a(m.ranges);
}
template <class A>
void fields(A& a, PeersMessage& m) {
  a(m.id, m.shards, m.places);
}
template <class A>
void fields(A& a, Samples& m) {
  a(m.first, m.count);
}
template <class A>
void fields(A& a, Task& m) {
  a(m.number, m.worker, m.version, m.samples, m.blocks);
}
template <class A>
void fields(A& a, TaskMessage& m) {
  a(m.task);
}
template <class A>
void fields(A& a, GradientHead& m) {
  a(m.samples);
}
template <class A>
void fields(A& a, Usage& m) {
  a(m.cpu_share, m.throttled_share, m.in_bytes_per_s, m.out_bytes_per_s, m.way_s);
}
template <class A>
void fields(A& a, Gradient& m) {
  a(m.task, m.samples, m.loss, m.norm2, m.dot_validation, m.norm2_validation, m.usage, m.receive_s,
    m.compute_s, m.merged);
}
template <class A>
void fields(A& a, GradientMessage& m) {
  a(m.gradient);
}
template <class A>
void fields(A& a, PieceMessage& m) {
  a(m.fault, m.norm2, m.dot_validation, m.norm2_validation);
}
template <class A>
void fields(A& a, Term& m) {
  a(m.task, m.weight);
}
template <class A>
void fields(A& a, Update& m) {
  a(m.version, m.rate, m.share, m.terms);
}
template <class A>
void fields(A& a, ApplyMessage& m) {
  a(m.update, m.fresh, m.workers, m.state);
}
template <class A>
void fields(A& a, AppliedMessage& m) {
  a(m.ok, m.error, m.fresh_mean_norm2);
}
template <class A>
void fields(A& a, SendParametersMessage& m) {
  a(m.worker, m.version, m.send);
}
template <class A>
void fields(A& a, SnapshotMessage& m) {
  a(m.floats, m.optimizer, m.version, m.batches, m.hash);
}
template <class A>
void fields(A& a, Evaluation& m) {
  a(m.accuracy, m.loss, m.samples);
}
template <class A>
void fields(A& a, EvaluatedMessage& m) {
  a(m.error, m.evaluation);
}
template <class A>
void fields(A& a, ValidateMessage& m) {
  a(m.samples);
}
template <class A>
void fields(A& a, RingPlace& m) {
  a(m.rank, m.size, m.source, m.version, m.name, m.parent_address, m.parent_port, m.on_gpus,
    m.own_address);
}
template <class A>
void fields(A& a, RingFormedMessage& m) {
  a(m.ok, m.error);
}
template <class A>
void fields(A& a, ParentMessage& m) {
  a(m.address, m.port, m.waits);
}
template <class A>
void fields(A& a, LinkMessage& m) {
  a(m.bytes_per_s);
}
template <class A>
void fields(A& a, CountMessage& m) {
  a(m.count);
}
template <class A>
void fields(A& a, ResizeMessage& m) {
  a(m.count, m.anyway);
}
template <class A>
void fields(A&, Nothing&) {}

}  // namespace orrery
