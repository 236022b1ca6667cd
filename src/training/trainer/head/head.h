#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "training/emulation/servers.h"
#include "training/emulation/straggler_script.h"
#include "training/sync/conductor.h"
#include "training/trainer/checkpoint/checkpoint.h"
#include "training/trainer/head/children.h"
#include "training/trainer/head/director_choice.h"
#include "training/trainer/head/gang_desk.h"
#include "training/trainer/head/head_parts.h"
#include "training/trainer/head/pulse_board.h"
#include "training/trainer/head/ring_record.h"
#include "training/trainer/head/run_end.h"
#include "training/trainer/head/servers_line.h"
#include "training/trainer/head/worker_clocks.h"
#include "training/trainer/head/worker_limit.h"
#include "training/trainer/run_folder/folder_lock.h"
#include "training/trainer/run_folder/run_log.h"
#include "training/trainer/run_folder/run_summary.h"
#include "training/trainer/run_options.h"
#include "training/trainer/transport/host.h"
#include "training/trainer/transport/part.h"
#include "training/trainer/transport/setup.h"

namespace orrery {

class BestKeeper;
class JobLink;
class ProgressLine;
class RunProgress;
class TreeDirector;

// Leads one run: starts the other processes, watches them, and carries the Conductor's orders
// between them. One thread, but for the writing of checkpoints. When a shard dies, or the last who
// holds the parameters, everything begins anew from the newest checkpoint.
class Head {
 public:
  Head(const RunOptions& options, const TrainPorts& ports, std::optional<GangPlace> gang = {});
  ~Head();

  Result<RunSummary> run();

 private:
  // head.cc: the whole run.
  Status open_run();
  Status note_options(bool anew);
  int worker_slots() const;  // places for workers
  bool emulates_servers() const;
  Status open_servers();
  Status open_host();
  Status load_script();
  Time now() const;
  void catch_signals();
  void end_with(const Error& error);
  void maybe_done();
  void bound_the_end();
  void write_tables();
  void wait_for_parts();
  void on_tick();
  Status set_cpu_of_all(double (*share)(const EmulatedSize&));
  void apply_script();
  RunSummary summary() const;

  // head_servers.cc: emulated servers, and those that are shared with other runs.
  int shard_server(int shard) const;
  std::vector<EmulatedSize> wished_sizes() const;
  Result<std::vector<EmulatedSize>> server_sizes();
  void limit_moved(int task, const Load& limit);
  void tell_link(int server);
  double left_s(double gradients_per_s) const;
  ServerUse shards_use() const;
  void count_for_servers();
  void report_to_servers();

  // head_links.cc: what links carry, and the tree that follows from it.
  bool wants_trees() const;
  void look_at_links();

  // head_start.cc: a session, from one start of all processes to the next.
  Status begin_session(const Checkpoint* from);
  void restart(const std::string& why);
  Status start_part(PartState& part);
  Status start_worker(int slot);
  void greet(const std::shared_ptr<Connection>& line, const Hello& hello);
  void adopt(PartState& part, const std::shared_ptr<Connection>& line);
  int free_place() const;
  std::string setup_for(const PartState& part) const;
  void part_ready(PartState& part, Frame& frame);
  void evaluator_ready(PartState& part, const ReadyMessage& ready, Frame& frame);
  void shards_ready();
  void admit(PartState& worker);
  void worker_joined(PartState& worker);
  void begin_training();
  void send_state(PartState& part, const ShardPlace& place);

  // head_orders.cc: what the Conductor wants.
  void pump();
  int giver(const Task& task) const;
  void ask_shards(const Task& task, bool send);
  void follow(const StartTask& order);
  void follow(const ApplyUpdate& order);
  void follow(const CutTask& order);
  void follow(const DropGradient& order);
  void follow(const FormRing& order);
  void follow(const FormTree& order);
  bool holds_newest(WorkerId worker) const;
  bool each_has_a_gpu(const std::vector<WorkerId>& ring);
  void tell_ring(const std::vector<WorkerId>& ring, RingPlace place);
  std::string address_of(const PartState& part, const PartState& peer) const;
  std::string address_in_ring(const std::vector<WorkerId>& ring);
  void follow(const RefreshValidation& order);
  void follow(const EvaluateVersion& order);
  void follow(const SaveCheckpoint& order);
  void follow(const DismissWorker& order);
  void follow(const FinishRun& order);
  void note_mode();
  void talk_to_scheduler();

  // head_reports.cc: what the processes say.
  void from_part(PartRole role, int id, Frame& frame);
  void piece_came(PartRole role, int from, Frame& frame);
  void gradient_done(Frame& frame);
  void complete(std::int64_t task);
  void add_usage(const Flight& flight, Gradient& gradient);
  void update_applied(PartRole role, int id, Frame& frame);
  void check_ring_update();
  void ring_formed(int worker, Frame& frame);
  void ring_failed(std::int64_t epoch, const std::string& why);
  void look_at_ring();
  void probe_links();
  void probe_link(PartState& worker);
  void link_shown(PartState& worker, const Frame& frame);
  void parent_gives_nothing(std::int64_t task);

  // head_snapshots.cc: parameters that are fetched, and what for.
  void ask_for_snapshot(Snapshot snapshot);
  void ask_others(int lost);
  void snapshot_came(PartRole role, int id, Frame& frame);
  void use_snapshot(Snapshot& snapshot);
  void save(Snapshot& snapshot);
  Checkpoint checkpoint_at(const ConductorState& state, Time at) const;
  void saved(const Status& status, const ConductorState& state);
  void note_save_failure(const Status& status);
  void judge_best(const PendingEvaluation& pending, const Judgement& judged);
  void send_evaluation(std::int64_t number);
  void evaluated(Frame& frame);
  void validated(Frame& frame);

  // head_size.cc: how many workers there are.
  void command_came(Connection& from, Frame& frame);
  void resize(Connection& from, const ResizeMessage& wish);
  int workers_present() const;
  WorkerCapacity worker_capacity(bool anyway) const;
  Status check_workers() const;
  void shrink();
  void grow();
  void cannot_grow(const std::string& why);
  int free_slot() const;

  // head_gang.cc: other ranks of the same job.
  void join_ranks();
  void look_at_gang();
  void end_gang();

  // head_pulses.cc: parts that send no heartbeat.
  double silence_allowed_s(const PartState& part) const;
  void look_at_pulses();
  void note_silence(const PartState& part, const PulseBoard::Silence& silence, double allowed_s);

  // head_members.cc: who comes and goes.
  void part_ended(pid_t pid, const std::string& how);
  void line_closed(PartRole role, int id, const Connection* line, const Error& why);
  void lose(PartRole role, int id, const std::string& how);
  void lose_worker(int id, const std::string& how);
  void find_new_parents(int lost);
  void dismiss(int id);
  PartState* find(PartRole role, int id);

  const RunOptions options_;
  const TrainPorts& ports_;
  boost::asio::io_context io_{1};
  boost::asio::thread_pool writer_{1};
  boost::asio::signal_set signals_;
  boost::asio::steady_timer ticker_, script_timer_;
  std::shared_ptr<Transport> transport_{std::make_shared<Transport>()};
  std::unique_ptr<Host> host_{};
  std::unique_ptr<Servers> servers_{};
  std::unique_ptr<LoadWatch> load_{};
  std::unique_ptr<MeetingPlace> meeting_{};
  std::unique_ptr<Children> children_{};
  std::unique_ptr<RunLog> log_{};
  std::unique_ptr<JobLink> job_{};
  std::unique_ptr<ProgressLine> progress_{};
  std::unique_ptr<RunProgress> pace_{};
  std::unique_ptr<BestKeeper> best_{};
  std::shared_ptr<ServersLine> shared_{};
  ShareTally share_{};
  StragglerScript script_{};
  std::size_t next_step_ = 0;
  std::string folder_{};
  bool own_folder_ = false;  // made for this run, and gone with it
  RunTally tally_{};
  WorkerClocks clocks_{};

  std::chrono::steady_clock::time_point began_{}, opened_{};
  Duration before_{};  // training time of earlier sessions
  double time_limit_s_ = 0;
  double quota_cores_ = 0;
  Time ended_at_{};

  // Of the present session.
  std::unique_ptr<Conductor> conductor_{};
  const ReasoningDirector* director_ = nullptr;  // the Conductor's
  TreeDirector* trees_ = nullptr;                // within it; null: there are none
  TreeState tree_{};
  std::optional<Checkpoint> from_{};
  std::vector<PartState> shards_{};
  PartState evaluator_{};
  std::map<int, PartState> workers_{};
  std::set<std::shared_ptr<Connection>> commands_{};
  int next_worker_ = 0;
  int workers_first_ = 0;  // of each session
  int workers_wanted_ = 0;
  bool anyway_ = false;  // a resize went beyond what the machine allows
  std::int64_t session_ = 0;
  bool training_ = false, finishing_ = false, over_ = false;
  std::vector<TensorPlace> tensors_{};
  std::int64_t count_ = 0;
  std::vector<ShardPlace> places_{};
  std::vector<float> first_parameters_{};

  std::map<std::int64_t, Flight> flights_{};
  std::map<std::int64_t, std::int32_t> samples_ready_{};  // of each gradient that is whole
  std::int64_t samples_used_ = 0;
  std::map<ParameterVersion, PendingUpdate> updates_{};
  RingState ring_{};
  std::map<std::int64_t, Snapshot> snapshots_{};
  std::map<std::int64_t, PendingEvaluation> evaluations_{};
  std::int64_t next_number_ = 1;
  std::int64_t ticks_ = 0;
  int saving_ = 0;
  bool validating_ = false;
  std::string mode_name_{};
  std::int64_t batches_told_ = 0;
  RunEnd run_end_{};
  PulseBoard pulses_;
  std::optional<FolderLock> lock_{};
  const std::optional<GangPlace> gang_place_;
  std::unique_ptr<GangDesk> gang_{};
  RingRecord ring_record_{};
  Status end_{};
};

}  // namespace orrery
