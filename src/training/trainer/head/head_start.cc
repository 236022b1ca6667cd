#include <fmt/format.h>

#include <algorithm>

#include "training/trainer/head/director_choice.h"
#include "training/trainer/head/head.h"
#include "training/trainer/head/progress_line.h"
#include "training/trainer/head/run_progress.h"
#include "training/trainer/run_folder/experience.h"
#include "training/trainer/transport/addresses.h"

namespace orrery {
namespace {

constexpr std::uint64_t kFirstLimit = std::uint64_t{1} << 28;  // before the model's size is known
constexpr std::uint64_t kProbeMost = std::uint64_t{1} << 20;
constexpr int kRestartsMost = 100;

bool same(const std::vector<TensorPlace>& a, const std::vector<TensorPlace>& b) {
  return std::ranges::equal(a, b, [](const TensorPlace& x, const TensorPlace& y) {
    return x.name == y.name && x.first == y.first && x.count == y.count;
  });
}

}  // namespace

std::string_view role_name(PartRole role) {
  switch (role) {
    case PartRole::Shard:
      return "shard";
    case PartRole::Worker:
      return "worker";
    case PartRole::Evaluator:
      return "evaluator";
    case PartRole::Command:
      return "command";
    case PartRole::Run:
      return "run";
    case PartRole::Pulse:
      return "heartbeat";
    case PartRole::Gang:
      return "rank";
  }
  return "part";
}

Status Head::begin_session(const Checkpoint* from) {
  ++session_;
  from_.reset();
  if (from != nullptr) from_ = *from;
  ConductorOptions with{.architecture = architecture(options_),
                        .workers_first = workers_first_,
                        .global_batch = options_.batch,
                        .blocks = blocks_for(options_),
                        .target_accuracy = options_.target,
                        .target_over = options_.target_over,
                        .spoiled_most = options_.spoiled_most};
  TRY_ASSIGN(with.rate, rate_rule(options_));
  with.evaluate_every = evaluation_distance(options_.evaluate_every, options_.batch);
  // Never in between, but when the run is stopped.
  constexpr auto kAtTheEnd = std::numeric_limits<std::int64_t>::max();
  with.checkpoint_every = options_.checkpoint_every > 0 ? options_.checkpoint_every
                          : own_folder_                 ? 0
                                                        : kAtTheEnd;
  if (with.checkpoint_every > 0) run_end_.promise_checkpoint();
  with.samples_limit = samples_limit(options_);
  std::unique_ptr<IterationPredictor> predictor;
  if (!options_.predictor.empty()) {
    auto loaded = ports_.load_predictor(options_.predictor);
    if (!loaded.ok()) return std::move(loaded).error().at("--predictor");
    predictor = std::move(loaded).value();
  }
  TRY_ASSIGN(SelectorStart selector, selector_start(options_, ports_));
  TRY_ASSIGN(Direction direction,
             choose_direction(options_, std::move(predictor), std::move(selector), shared_,
                              log_.get(), wants_trees()));
  if (!direction.experience.empty()) progress_->say(direction.experience);
  if (shared_) shared_->restart();
  share_.counting = false;
  ConductorState state = from_ ? from_->conductor : ConductorState{};
  if (!from_) state.mode = direction.mode;
  director_ = direction.director.get();
  trees_ = direction.trees;
  tree_ = {};
  conductor_ = std::make_unique<Conductor>(with, std::move(direction.director), state);
  ring_ = {.version = state.version};
  samples_used_ = state.samples_done;
  batches_told_ = samples_used_ / options_.batch;
  samples_ready_.clear();
  if (session_ == 1 && from_) before_ = from_seconds(from_->elapsed_s);

  evaluator_ = {.role = PartRole::Evaluator, .id = 0};
  if (servers_) evaluator_.server = servers_->count() - 1;
  TRY(start_part(evaluator_));
  ring_record_ = {};
  // The other ranks of a gang start theirs.
  workers_wanted_ = gang_ ? gang_->own_workers() : workers_first_;
  grow();
  return {};
}

void Head::restart(const std::string& why) {
  if (over_ || finishing_ || conductor_->ending()) {
    return end_with({Code::Unavailable, fmt::format("{} while the run was ending", why)});
  }
  progress_->say(fmt::format("{}; all begins anew from the newest checkpoint", why));
  before_ = now().time_since_epoch();
  clocks_.leave_all(now());
  pulses_.forget_all();
  training_ = false;
  tally_.counts = tally_.counts + conductor_->counts();
  tally_.steer_cpu_s += director_->cpu_s();
  if (++tally_.restarts > kRestartsMost) {
    return end_with({Code::Aborted, "too many restarts"});
  }
  children_->clear();
  for (auto& [id, worker] : workers_) {
    if (worker.line) worker.line->close({Code::Cancelled, "the run begins anew"});
  }
  workers_.clear();
  shards_.clear();
  evaluator_ = {};
  validating_ = false;
  tensors_.clear();
  places_.clear();
  flights_.clear();
  updates_.clear();
  snapshots_.clear();
  evaluations_.clear();
  auto found = newest_checkpoint(folder_);
  if (found.ok()) {
    for (const std::string& damaged : found.value().damaged) tally_.warnings.push_back(damaged);
  }
  const Status begun = begin_session(found.ok() ? &found.value().checkpoint : nullptr);
  if (!begun.ok()) end_with(begun.error());
}

Status Head::start_part(PartState& part) {
  const bool placed = servers_ && part.server >= 0;
  const bool behind_tbf = placed && servers_->link_means() == "tbf";
  ChildStart start{.command = {own_program(), "part"}};
  if (placed) start.command = servers_->inside(part.server, start.command);
  start.input =
      part_start_text({.role = part.role,
                       .id = part.id,
                       .host = beside_head(host_->address()),
                       .port = host_->port(),
                       .token = transport_->token,
                       .listen = behind_tbf ? servers_->address(part.server) : host_->address()});
  if (placed) {
    start.before = [this, &part](pid_t pid) { return servers_->add(part.server, pid); };
  }
  TRY_ASSIGN(part.pid, children_->start(start));
  log_->process(seconds(now()), std::string(role_name(part.role)), part.id, part.pid, "started");
  return {};
}

Status Head::start_worker(int slot) {
  const int id = next_worker_++;
  PartState& worker = workers_[id];
  worker = {.role = PartRole::Worker, .id = id, .slot = slot};
  if (servers_) worker.server = slot;
  return start_part(worker);
}

void Head::greet(const std::shared_ptr<Connection>& line, const Hello& hello) {
  if (hello.role == PartRole::Command) {
    commands_.insert(line);
    line->handle({.frame = [this](Connection& from, Frame& frame) { command_came(from, frame); },
                  .closed = [this](Connection& gone,
                                   const Error&) { commands_.erase(gone.shared_from_this()); },
                  .place = {}},
                 {});
    return;
  }
  if (hello.role == PartRole::Pulse) return pulses_.listen(line);
  if (hello.role == PartRole::Gang && gang_) {
    return gang_->welcome(line, hello.id, [this](int rank) {
      if (over_) return;
      progress_->say(fmt::format("rank {} of the job is gone", rank));
      if (!training_) end_with({Code::Unavailable, "a rank of the job ended before it began"});
    });
  }
  if (hello.role == PartRole::Worker && hello.id < 0 && !finishing_) {
    const int id = next_worker_++;
    workers_[id] = {.role = PartRole::Worker, .id = id};
    ++workers_wanted_;
    return adopt(workers_[id], line);
  }
  PartState* const part = find(hello.role, hello.id);
  const bool expected = part != nullptr && !part->line && part->pid == hello.pid;
  if (!expected) return line->close({Code::PermissionDenied, "nobody waits for it"});
  adopt(*part, line);
}

void Head::adopt(PartState& part, const std::shared_ptr<Connection>& line) {
  const PartRole role = part.role;
  const int id = part.id;
  part.place = role == PartRole::Worker ? free_place() : options_.workers;
  part.line = line;
  line->handle(
      {.frame = [this, role, id](Connection&, Frame& frame) { from_part(role, id, frame); },
       .closed = [this, role, id](Connection& gone,
                                  const Error& why) { line_closed(role, id, &gone, why); },
       .place = {}},
      {.floats = count_ > 0 ? std::max(kProbeMost, static_cast<std::uint64_t>(count_) * 4)
                            : kFirstLimit});
  line->send(MessageType::Setup, 0, Text{setup_for(part)});
  if (servers_ && part.server >= 0 && servers_->link_means() == "token-bucket") {
    line->send(MessageType::SetLink, 0, LinkMessage{servers_->transport_bytes_per_s(part.server)});
  }
}

int Head::free_place() const {
  int place = 0;
  while (std::ranges::any_of(workers_, [place](const auto& worker) {
    return worker.second.line && worker.second.place == place;
  })) {
    ++place;
  }
  return place;
}

std::string Head::setup_for(const PartState& part) const {
  PartSetup setup{.architecture = architecture(options_),
                  .learner = options_.learner,
                  .optimizer = options_.optimizer,
                  .ring_patience_s = options_.ring_patience_s};
  setup.learner.held_out = held_out_for(options_);
  setup.learner.place = part.place;
  setup.head_listens = host_->address();
  if (part.role == PartRole::Shard) {
    setup.parameters = places_[static_cast<std::size_t>(part.id)].count();
  }
  if (meeting_) {
    setup.meeting_host = reachable(host_->address(), part.line->own_address());
    setup.meeting_port = meeting_->port();
  }
  return setup_text(setup);
}

void Head::part_ready(PartState& part, Frame& frame) {
  ReadyMessage ready;
  if (!take(*part.line, frame, ready)) return;
  if (!ready.error.empty()) {
    const Error error{static_cast<Code>(ready.error_code), ready.error};
    // What goes wrong before training, goes wrong for good: a file that is not there.
    if (!training_) return end_with(error);
    return lose(part.role, part.id, ready.error);
  }
  part.address = ready.address;
  part.port = ready.port;
  part.gpu = ready.gpu;
  part.ready = true;
  if (part.role == PartRole::Evaluator) return evaluator_ready(part, ready, frame);
  if (part.role == PartRole::Shard) return shards_ready();
  if (!tensors_.empty() && !same(ready.tensors, tensors_)) {
    progress_->say(fmt::format("worker {} has another model", part.id));
    return lose(part.role, part.id, "it has another model");
  }
  admit(part);
  grow();
}

void Head::evaluator_ready(PartState&, const ReadyMessage& ready, Frame& frame) {
  if (!tensors_.empty()) {  // it is a new one, in place of one that died
    for (const auto& [number, evaluation] : evaluations_) send_evaluation(number);
    return;
  }
  tensors_ = ready.tensors;
  count_ = 0;
  for (const TensorPlace& tensor : tensors_) count_ += tensor.count;
  if (tensors_.empty() || frame.floats.size() != static_cast<std::size_t>(count_)) {
    return end_with({Code::Internal, "the evaluator's model has no shape"});
  }
  first_parameters_ = std::move(frame.floats);
  if (from_ && !same(from_->tensors, tensors_)) {
    return end_with(invalid("the checkpoint is of another model"));
  }
  if (architecture(options_) == Architecture::ParameterServers) {
    places_ = lay_out_shards(tensors_, options_.shards);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      shards_.push_back({.role = PartRole::Shard, .id = static_cast<int>(i)});
      if (servers_) shards_.back().server = shard_server(static_cast<int>(i));
    }
    for (PartState& shard : shards_) {
      if (const Status started = start_part(shard); !started.ok()) return end_with(started.error());
    }
    return;
  }
  shards_ready();
}

void Head::send_state(PartState& part, const ShardPlace& place) {
  SnapshotMessage message{.optimizer = true, .version = conductor_->state().version};
  const auto& parameters = from_ ? from_->parameters : first_parameters_;
  auto values = std::make_shared<std::vector<float>>(gather(parameters, place));
  if (from_) {
    message.batches = from_->optimizer_batches;
    const std::span<const float> state = from_->optimizer_state;
    const auto count = static_cast<std::size_t>(count_);
    for (std::size_t at = 0; at + count <= state.size(); at += count) {
      const auto part_of_it = gather(state.subspan(at, count), place);
      values->insert(values->end(), part_of_it.begin(), part_of_it.end());
    }
  }
  part.line->send(MessageType::LoadState, 0, message,
                  {.floats = {*values}, .keep = values, .sent = {}});
}

void Head::shards_ready() {
  if (tensors_.empty() ||
      !std::ranges::all_of(shards_, [](const PartState& shard) { return shard.ready; })) {
    return;
  }
  for (PartState& shard : shards_) {
    send_state(shard, places_[static_cast<std::size_t>(shard.id)]);
  }
  std::vector<int> ids;
  for (const auto& [id, worker] : workers_) ids.push_back(id);
  for (const int id : ids) {
    if (const auto found = workers_.find(id); found != workers_.end()) admit(found->second);
  }
}

void Head::admit(PartState& worker) {
  const bool shards_there = std::ranges::all_of(shards_, [](const auto& s) { return s.ready; });
  const bool has_shards = architecture(options_) == Architecture::AllReduce || !shards_.empty();
  if (!worker.ready || worker.admitted || tensors_.empty() || !shards_there || !has_shards) return;
  worker.admitted = true;
  PeersMessage peers{.id = worker.id, .places = places_};
  for (const PartState& shard : shards_) {
    peers.shards.emplace_back(address_of(shard, worker), shard.port);
  }
  worker.line->send(MessageType::Peers, 0, peers);
}

void Head::worker_joined(PartState& worker) {
  if (finishing_) return;
  const bool ring = architecture(options_) == Architecture::AllReduce;
  if (!training_ && ring) {
    send_state(worker, {.ranges = {{.first = 0, .count = count_}}});
    ring_.holds[worker.id] = conductor_->state().version;
  }
  worker.joined = true;
  log_->process(seconds(now()), "worker", worker.id, worker.pid, "joined");
  if (training_) {
    clocks_.join(worker.id, worker.pid, now());
    conductor_->join(WorkerId{worker.id}, now());
    grow();
    return pump();
  }
  const auto joined =
      std::ranges::count_if(workers_, [](const auto& w) { return w.second.joined; });
  if (joined >= workers_first_) begin_training();
}

void Head::begin_training() {
  began_ = std::chrono::steady_clock::now();
  training_ = true;
  pace_->begin(samples_used_, seconds(now()));
  if (load_ && session_ == 1) {
    const Status quotas = set_cpu_of_all([](const EmulatedSize&) { return 1.0; });
    if (!quotas.ok()) return end_with(quotas.error());
    load_ = watch_load(*servers_, quota_cores_);
  }
  for (auto& [id, worker] : workers_) {
    if (!worker.joined) continue;
    clocks_.join(id, worker.pid, now());
    conductor_->join(WorkerId{id}, now());
  }
  if (servers_) apply_script();
  pump();
}

}  // namespace orrery
