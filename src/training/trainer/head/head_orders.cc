// What the Conductor orders, and which part of the head carries it out.
#include <limits>
#include <utility>
#include <variant>

#include "training/trainer/head/head.h"

namespace orrery {
namespace {

template <class... Calls>
struct Overloaded : Calls... {
  using Calls::operator()...;
};

}  // namespace

void Head::pump() {
  const std::int64_t session = session_.number;
  const auto carry_out = Overloaded{
      [this](const StartTask& order) { start_task(order); },
      [this](const ApplyUpdate& order) {
        if (StepLog* const steps = run_.log->steps()) steps->update(order.update);
        exchange_->apply(order);
      },
      [this](const CutTask& order) { cut_task(order); },
      [this](const DropGradient& order) {
        tasks_.drop(order.task);
        exchange_->drop(order.task);
      },
      [this](const FormRing& order) { exchange_->form(order); },
      [this](const FormTree& order) { exchange_->form(order); },
      [this](const RefreshValidation&) { snapshots_->refresh_validation(); },
      [this](const EvaluateVersion& order) { snapshots_->evaluate(order); },
      [this](const SaveCheckpoint& order) { snapshots_->save(order.version); },
      [this](const DismissWorker& order) { members_.dismiss(static_cast<int>(order.worker)); },
      [this](const FinishRun& order) { finish(order); }};
  for (;;) {
    const std::vector<Order> orders = session_.conductor->take_orders();
    if (orders.empty()) break;
    exchange_->look_ahead(orders);
    for (const Order& order : orders) {
      std::visit(carry_out, order);
      if (run_.over || session_.number != session) return;
    }
  }
  note_mode();
  report_to_scheduler();
  maybe_done();
}

void Head::start_task(const StartTask& order) {
  RunningTask& open = tasks_.open(order.task);
  const PartState* const worker = members_.connected(order.task.worker);
  if (worker == nullptr) return;
  worker->line->send(MessageType::StartTask, order.task.number, TaskMessage{order.task});
  exchange_->send_parameters(open);
}

void Head::cut_task(const CutTask& order) {
  const PartState* const worker = members_.connected(order.worker);
  if (worker != nullptr) worker->line->send(MessageType::CutTask, order.task, Nothing{});
}

void Head::finish(const FinishRun& order) {
  run_.tally.ended = order.reason;
  if (order.failed) run_.end.fail(Error{Code::Aborted, order.reason});
  run_.ended_at = run_.now();
  run_.worker_clocks.sample(run_.ended_at);
  run_.finishing = true;
}

void Head::note_mode() {
  const int present = members_.joined();
  if (present == 0 || !run_.training()) return;
  std::string name = mode_name(session_.conductor->mode(), present);
  if (name == session_.mode_name) return;
  emulation_.mode_changes();
  session_.mode_name = std::move(name);
  run_.tally.modes.push_back({.at_s = seconds(run_.now()),
                              .mode = session_.mode_name,
                              .reason = session_.director->reason()});
  run_.log->mode(run_.tally.modes.back());
}

// An iteration is a global batch's worth of samples, whatever number of updates it took.
void Head::report_to_scheduler() {
  const std::int64_t batches = session_.samples_used / run_.options.batch;
  if (batches == session_.batches_reported || !run_.job.is_job()) return;
  session_.batches_reported = batches;
  run_.job.progress(batches, samples_limit(run_.options) / run_.options.batch,
                    run_.pace.loss().value_or(std::numeric_limits<double>::quiet_NaN()),
                    session_.samples_used);
  if (!run_.finishing && run_.job.should_stop(batches)) {
    session_.conductor->finish("it was asked to stop", run_.now());
    pump();
  }
}

}  // namespace orrery
