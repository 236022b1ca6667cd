// What the processes of a run report, and where it goes.
#include <fmt/format.h>

#include <algorithm>

#include "training/trainer/head/head.h"

namespace orrery {
namespace {

constexpr std::uint64_t kFirstLimit = std::uint64_t{1} << 28;  // before the model's size is known
constexpr std::uint64_t kProbeMost = std::uint64_t{1} << 20;

}  // namespace

void Head::greet(const std::shared_ptr<Connection>& line, const Hello& hello) {
  if (hello.role == PartRole::Command) {
    commands_.insert(line);
    line->handle(
        {.frame = [this](Connection& from, MessageFrame& frame) { command_came(from, frame); },
         .closed = [this](Connection& gone,
                          const Error&) { commands_.erase(gone.shared_from_this()); },
         .place = {}},
        {});
    return;
  }
  if (hello.role == PartRole::Pulse) return silence_.listen(line);
  if (hello.role == PartRole::Gang && gang_) {
    return gang_->welcome(line, hello.id, [this](int rank) {
      if (run_.over) return;
      run_.progress.say(fmt::format("rank {} of the job is gone", rank));
      if (!run_.training()) {
        run_.fail({Code::Unavailable, "a rank of the job ended before it began"});
      }
    });
  }
  if (hello.role == PartRole::Worker && hello.id < 0 && !run_.finishing) {
    return adopt(members_.add_joiner(), line);
  }
  PartState* const part = members_.find(hello.role, hello.id);
  const bool known = part != nullptr && !part->line;
  const bool expected = known && (run_.options.members || part->pid == hello.pid);
  if (!expected) return line->close({Code::PermissionDenied, "no such process is expected"});
  adopt(*part, line);
}

void Head::adopt(PartState& part, const std::shared_ptr<Connection>& line) {
  const PartRole role = part.role;
  const int id = part.id;
  part.place = role == PartRole::Worker ? members_.free_place() : run_.options.workers;
  part.line = line;
  const auto count = static_cast<std::uint64_t>(session_.parameter_count);
  line->handle(
      {.frame = [this, role, id](Connection&, MessageFrame& frame) { from_part(role, id, frame); },
       .closed = [this, role, id](Connection& gone,
                                  const Error& why) { line_closed(role, id, &gone, why); },
       .place = {}},
      {.floats = count > 0 ? std::max(kProbeMost, count * 4) : kFirstLimit});
  line->send(MessageType::Setup, 0, Text{start_->setup_for(part, *host_, meeting_.get())});
  emulation_.send_link_rate(part);
}

void Head::from_part(PartRole role, int id, MessageFrame& frame) {
  PartState* const part = members_.find(role, id);
  if (part == nullptr || run_.over) return;
  const bool worker = role == PartRole::Worker;
  const bool evaluator = role == PartRole::Evaluator;
  switch (frame.header.type) {
    case MessageType::Ready:
      return part_ready(*part, frame);
    case MessageType::Joined:
      if (worker && !part->joined && part->admitted) start_->worker_joined(*part);
      return;
    case MessageType::Piece:
      exchange_->piece_came(role, id, frame);
      return complete(frame.header.number);
    case MessageType::GradientDone:
      tasks_.described(frame);
      return complete(frame.header.number);
    case MessageType::Applied:
      return applied(id, frame);
    case MessageType::RingFormed:
      return exchange_->ring_formed(id, frame);
    case MessageType::LinkProbe:
      if (worker) exchange_->link_measured(*part, frame);
      return;
    case MessageType::SendParameters:
      if (worker) exchange_->parent_has_none(frame.header.number);
      return;
    case MessageType::Snapshot:
      return snapshots_->came(role, id, frame);
    case MessageType::Evaluated:
      if (evaluator) snapshots_->evaluated(frame);
      return;
    case MessageType::Validation:
      if (evaluator) snapshots_->validated(frame);
      return;
    case MessageType::Leaving:
      return leaves(*part);
    default:
      return part->line->close(invalid("the head is not asked for that"));
  }
}

void Head::part_ready(PartState& part, MessageFrame& frame) {
  const PartRole role = part.role;
  const int id = part.id;
  const bool replaced = role == PartRole::Evaluator && !session_.tensors.empty();
  const Status ready = start_->part_ready(part, frame);
  if (!ready.ok()) return lose(role, id, ready.error().message);
  if (replaced) snapshots_->send_evaluations();
}

void Head::applied(int id, MessageFrame& frame) {
  auto message = read_fields<AppliedMessage>(frame.body);
  if (message.ok()) exchange_->applied(id, frame.header.number, message.value());
}

void Head::complete(std::int64_t task) {
  const RunningTask* const open = tasks_.find(task);
  if (open == nullptr) return;
  const WorkerId worker = open->task.worker;
  if (!tasks_.complete(task, exchange_->pieces_needed())) return;
  exchange_->task_completed(worker);
  pump();
}

void Head::leaves(PartState& part) {
  if (part.role != PartRole::Worker || !part.joined) return lose(part.role, part.id, "left early");
  part.dismissed = true;
  members_.one_less();
  session_.conductor->retire(WorkerId{part.id}, run_.now());
  pump();
}

void Head::command_came(Connection& from, MessageFrame& frame) {
  ResizeMessage message;
  if (frame.header.type != MessageType::Resize) return from.close(invalid("no such command"));
  if (take(from, frame, message)) resize(from, message);
}

void Head::resize(Connection& from, const ResizeMessage& request) {
  const auto answer = [&from](bool ok, const std::string& text) {
    from.send(MessageType::Answer, 0, Text{text, ok});
    from.close_when_sent();
  };
  if (!run_.training() || run_.finishing || session_.conductor->ending()) {
    return answer(false, "the run is not training");
  }
  const WorkerLimit limit = members_.limit(request.anyway);
  if (request.count < 1) return answer(false, "a run has 1 worker at least");
  if (request.count > limit.most) {
    return answer(false, fmt::format("at most {} workers: {}", limit.most, limit.why));
  }
  const int before = members_.wanted();
  members_.resize(request.count, request.anyway,
                  [this](WorkerId worker) { session_.conductor->retire(worker, run_.now()); });
  answer(true, fmt::format("from {} to {} workers", before, members_.wanted()));
  pump();
}

void Head::look_at_gang() {
  if (!gang_ || run_.training() || run_.over) return;
  const std::vector<int> absent = gang_->absent(GangDesk::Clock::now());
  if (absent.empty()) return;
  run_.fail({Code::DeadlineExceeded,
             fmt::format("{} of {} ranks of the job did not come, the first is rank {}",
                         absent.size(), gang_place_->ranks, absent.front())});
}

void Head::end_gang() {
  if (!gang_) return;
  const bool whole =
      run_.failure.ok() && run_.end.outcome(session_.conductor->state().version).ok();
  const bool stopped = run_.tally.ended.find("asked to stop") != std::string::npos;
  gang_->end(!whole ? RunOutcome::Failed : stopped ? RunOutcome::Stopped : RunOutcome::Finished);
}

}  // namespace orrery
