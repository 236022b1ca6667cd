#pragma once

#include "live/api/api.h"
#include "live/codec/job_fields.h"
#include "live/codec/rights_fields.h"
#include "live/codec/trust_fields.h"

// What the calls of the Api and their answers are made of.

namespace orrery {

void fields(auto&, Like<Nothing> auto&) {}

void fields(auto& io, Like<NodeStatus> auto& v) {
  io("name", v.name);
  io("state", v.state);
  io("address", v.address);
  io("gpus", v.gpus);
  io("gpus_free", v.gpus_free);
  io("cpu_milli", v.cpu_milli);
  io("memory_bytes", v.memory_bytes);
  io("gpu_type", v.gpu_type);
  io("seen_s", v.seen_s);
  io("jobs", v.jobs);
  io("note", v.note);
  io("zone", v.zone);
  io("losses_per_day", v.losses_per_day);
}
void fields(auto& io, Like<NodesAnswer> auto& v) { io("nodes", v.nodes); }

void fields(auto& io, Like<DrainRequest> auto& v) {
  io("node", v.node);
  io("resume", v.resume);
  io("now", v.now);
  io("lost", v.lost);
  io("replace_log", v.replace_log);
}
void fields(auto& io, Like<PolicyRequest> auto& v) {
  io("policy", v.policy);
  io("options", v.options, Range{0, 1000});
}
void fields(auto& io, Like<QuotaRequest> auto& v) {
  io("tenant", v.tenant);
  io("gpus", v.gpus, kCount);
  io("borrows", v.borrows);
}
void fields(auto& io, Like<QuotaStatus> auto& v) {
  io("tenant", v.tenant);
  io("gpus", v.gpus);
  io("held", v.held);
  io("borrows", v.borrows);
}
void fields(auto& io, Like<QuotasAnswer> auto& v) { io("quotas", v.quotas); }

void fields(auto& io, Like<EventsRequest> auto& v) {
  io("from", v.from);
  io("most", v.most, kPiece);
  io("wait_ns", v.wait, kCount);
  io("record", v.record);
}
void fields(auto& io, Like<EventsAnswer> auto& v) {
  io("lines", v.lines);
  io("next", v.next);
}

void fields(auto& io, Like<WhatIfRequest> auto& v) {
  io("job", v.job);
  io("nodes_more", v.nodes_more, Range{0, 100'000});
  io("policy", v.policy);
}
void fields(auto& io, Like<WhatIfAnswer> auto& v) {
  io("text", v.text);
  io("json", v.json);
}
void fields(auto& io, Like<SituationAnswer> auto& v) { io("json", v.json); }

void fields(auto& io, Like<LogsRequest> auto& v) {
  io("id", v.id);
  io("rank", v.rank, kCount);
  io("offset", v.offset);
  io("most", v.most, kPiece);
  io("wait_ns", v.wait, kCount);
  io("errors", v.errors);
  io("node", v.node);
}
void fields(auto& io, Like<LogsAnswer> auto& v) {
  io("bytes", v.bytes);
  io("next", v.next);
  io("ended", v.ended);
  io("node", v.node);
}

}  // namespace orrery
