#include "live/api/agent_words.h"
#include "live/codec/wire_reader.h"
#include "live/codec/wire_writer.h"
#include "model/cluster.h"

namespace orrery {
namespace {

constexpr Range kGpuCount{0, kGpusPerNodeMax};

}  // namespace

// Found by their arguments, which is why they do not stand in the nameless namespace.
void fields(auto& io, Like<LaunchName> auto& v) {
  io("job", v.job, kCount);
  io("epoch", v.epoch, kCount);
  io("rank", v.rank, kCount);
}
void fields(auto& io, Like<NodeOffer> auto& v) {
  io("name", v.name);
  io("address", v.address);
  io("gpus", v.gpus, kGpuCount);
  io("cpu_milli", v.cpu_milli, kCount);
  io("memory_bytes", v.memory_bytes, kCount);
  io("gpu_memory_bytes", v.gpu_memory_bytes, kCount);
  io("gpu_type", v.gpu_type);
  io("only_user", v.only_user);
  io("zone", v.zone);
  io("losses_per_day", v.losses_per_day);
  io("fault", v.fault);
}
void fields(auto& io, Like<JobEnd> auto& v) {
  io("kind", v.kind);
  io("exit_code", v.exit_code);
  io("signal", v.signal);
  io("message", v.message);
  io("ran_ns", v.ran_ns);
}
void fields(auto& io, Like<LaunchReport> auto& v) {
  io("name", v.name);
  io("state", v.state);
  io("end", v.end);
  io("iteration", v.iteration);
  io("iterations", v.iterations);
  io("checkpointed", v.checkpointed);
  io("can_stop_at", v.can_stop_at);
  io("finished", v.finished);
  io("master_port", v.master_port, Range{0, 65535});
}
void fields(auto& io, Like<LogPiece> auto& v) {
  io("request", v.request);
  io("bytes", v.bytes);
  io("offset", v.offset);
  io("ended", v.ended);
  io("error", v.error);
}
void fields(auto& io, Like<Report> auto& v) {
  io("version", v.version);
  io("offer", v.offer);
  io("instance", v.instance);
  io("session", v.session);
  io("number", v.number);
  io("term", v.term);
  io("orders", v.orders);
  io("launches", v.launches);
  io("logs", v.logs);
  io("leaving", v.leaving);
  io("machine", v.machine);
  io("boot", v.boot);
  io("log", v.log);
  io("refuses", v.refuses);
}

void fields(auto& io, Like<Assignment> auto& v) {
  io("name", v.name);
  io("ranks", v.ranks, kOneOrMore);
  io("local_rank", v.local_rank, kCount);
  io("local_ranks", v.local_ranks, kOneOrMore);
  io("node", v.node, kCount);
  io("nodes", v.nodes, kOneOrMore);
  io("master_address", v.master_address);
  io("master_port", v.master_port, Range{0, 65535});
  io("argv", v.argv, kWords);
  io("environment", v.environment, kWords);
  io("directory", v.directory);
  io("user", v.user);
  io("gpus", v.gpus);
  io("cpu_milli", v.cpu_milli, kCount);
  io("memory_bytes", v.memory_bytes, kCount);
  io("grace_ns", v.grace, kCount);
  io("output", v.output);
  io("checkpoint_directory", v.checkpoint_directory);
  io("resumes", v.resumes);
  io("shares", v.shares);
  io("gpus_visible", v.gpus_visible);
  io("errors", v.errors);
  io("time_left_ns", v.time_left, kCount);
  io("signal", v.signal, Range{0, 64});
  io("signal_before_ns", v.signal_before, kCount);
  io("private_tmp", v.private_tmp);
  io("node_timeout_ns", v.node_timeout, kCount);
}
void fields(auto& io, Like<StopOrder> auto& v) {
  io("launch", v.launch);
  io("at", v.at);
  io("reason", v.reason);
  io("gpus_next", v.gpus_next, kCount);
  io("ranks_next", v.ranks_next, kCount);
}
void fields(auto& io, Like<LogRequest> auto& v) {
  io("request", v.request);
  io("launch", v.launch);
  io("offset", v.offset);
  io("most", v.most, Range{1, 1 << 20});
  io("wait_ns", v.wait, kCount);
  io("path", v.path);
  io("user", v.user);
  io("errors", v.errors);
}
void fields(auto& io, Like<Orders> auto& v) {
  io("version", v.version);
  io("instance", v.instance);
  io("session", v.session);
  io("term", v.term);
  io("number", v.number);
  io("report", v.report);
  io("lease_ns", v.lease, kCount);
  io("assignments", v.assignments);
  io("forget", v.forget);
  io("stops", v.stops);
  io("logs", v.logs);
  io("refused", v.refused);
  io("log", v.log);
  io("replaces", v.replaces);
}

template void write_wire(const LaunchName&, Message&);
template Result<LaunchName> read_wire(const Message&);
template void write_wire(const NodeOffer&, Message&);
template Result<NodeOffer> read_wire(const Message&);
template void write_wire(const JobEnd&, Message&);
template Result<JobEnd> read_wire(const Message&);
template void write_wire(const LaunchReport&, Message&);
template Result<LaunchReport> read_wire(const Message&);
template void write_wire(const LogPiece&, Message&);
template Result<LogPiece> read_wire(const Message&);
template void write_wire(const Report&, Message&);
template Result<Report> read_wire(const Message&);
template void write_wire(const Assignment&, Message&);
template Result<Assignment> read_wire(const Message&);
template void write_wire(const StopOrder&, Message&);
template Result<StopOrder> read_wire(const Message&);
template void write_wire(const LogRequest&, Message&);
template Result<LogRequest> read_wire(const Message&);
template void write_wire(const Orders&, Message&);
template Result<Orders> read_wire(const Message&);

}  // namespace orrery
