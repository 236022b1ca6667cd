#pragma once

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "training/result/training_result.h"
#include "training/trainer/head/emulated/server_emulation.h"
#include "training/trainer/head/exchange/parameter_exchange.h"
#include "training/trainer/head/exchange/task_book.h"
#include "training/trainer/head/gang_desk.h"
#include "training/trainer/head/lead/leadership.h"
#include "training/trainer/head/membership/run_members.h"
#include "training/trainer/head/membership/silence_watch.h"
#include "training/trainer/head/run_context.h"
#include "training/trainer/head/session/session_start.h"
#include "training/trainer/head/session/training_session.h"
#include "training/trainer/head/snapshots/snapshots.h"
#include "training/trainer/transport/host.h"

namespace orrery {

// Leads one run: routes what processes report to the part of the head that it concerns, and the
// Conductor's orders to the parts that carry them out. One thread, but for the writing of
// checkpoints. When a shard dies, or the last worker that holds the parameters, a new session
// begins from the newest checkpoint. In a run with members another head does that instead.
class Head {
 public:
  // `options` have been checked.
  Head(const RunOptions& options, const TrainPorts& ports, std::optional<GangPlace> gang = {});
  ~Head();

  Result<TrainingResult> run();

 private:
  // head.cc: the whole run.
  Status open_run();
  Status note_options(bool fresh);
  Status open_parts();
  Status open_host();
  void make_exchange();
  Result<std::optional<Checkpoint>> checkpoint_to_resume();
  void catch_signals();
  void maybe_done();
  void give_up_last_sum();
  void write_tables();
  void on_tick();
  Result<TrainingResult> lead();
  void tick_training();
  TrainingResult result();
  Status begin_session(const Checkpoint* from);
  void restart(const std::string& why);

  // head_frames.cc: what processes report.
  void greet(const std::shared_ptr<Connection>& line, const Hello& hello);
  void adopt(PartState& part, const std::shared_ptr<Connection>& line);
  void from_part(PartRole role, int id, MessageFrame& frame);
  void part_ready(PartState& part, MessageFrame& frame);
  void applied(int id, MessageFrame& frame);
  void complete(std::int64_t task);
  void leaves(PartState& part);
  void command_came(Connection& from, MessageFrame& frame);
  void resize(Connection& from, const ResizeMessage& request);
  void look_at_gang();
  void end_gang();

  // head_orders.cc: what the Conductor orders.
  void pump();
  void start_task(const StartTask& order);
  void cut_task(const CutTask& order);
  void finish(const FinishRun& order);
  void note_mode();
  void report_to_scheduler();

  // head_members.cc: processes that are gone.
  void line_closed(PartRole role, int id, const Connection* line, const Error& why);
  void lose(PartRole role, int id, const std::string& how);
  void lose_evaluator(const std::string& how);
  void lose_worker(int id, const std::string& how);
  void drop_tasks_of(int worker);
  bool replace_worker(const PartState& gone, const std::string& how);

  RunContext run_;
  TrainingSession session_{};
  const std::optional<GangPlace> gang_place_;
  const std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
  int workers_first_ = 0;  // of each session
  std::shared_ptr<Transport> transport_{std::make_shared<Transport>()};
  std::unique_ptr<Host> host_{};
  std::unique_ptr<MeetingPlace> meeting_{};
  RunMembers members_;
  Leadership leadership_;
  ServerEmulation emulation_;
  TaskBook tasks_;
  std::unique_ptr<ParameterExchange> exchange_{};
  std::unique_ptr<SessionStart> start_{};
  std::unique_ptr<Snapshots> snapshots_{};
  SilenceWatch silence_;
  std::unique_ptr<GangDesk> gang_{};
  std::set<std::shared_ptr<Connection>> commands_{};
  boost::asio::signal_set signals_;
  boost::asio::steady_timer ticker_;
};

}  // namespace orrery
