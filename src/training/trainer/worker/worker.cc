#include "training/trainer/worker/worker.h"

#include <fmt/format.h>

#include <sys/resource.h>
#include <boost/asio/post.hpp>

#include <algorithm>

#include "base/invariant.h"
#include "training/trainer/shard/flat_math.h"
#include "training/trainer/transport/addresses.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kShardPatience = std::chrono::seconds(5);

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto value = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return value(usage.ru_utime) + value(usage.ru_stime);
}

}  // namespace

Status Worker::run(const PartStart& start) {
  auto part = Part::connect(start, [this](Frame& frame) { from_head(frame); });
  if (!part.ok()) return std::move(part).error();
  part_ = std::move(part).value();
  patience_ = std::make_unique<boost::asio::steady_timer>(part_->io);
  boost::asio::signal_set asked_to_leave(part_->io, SIGTERM);
  if (start.id < 0) asked_to_leave.add(SIGINT);
  asked_to_leave.async_wait([this](const boost::system::error_code& error, int) {
    if (!error) part_->head->send(MessageType::Leaving, 0, Nothing{});
  });
  while (!part_->over) {
    if (!computing_ && !deferred_.empty()) {
      Frame frame = std::move(deferred_.front());
      deferred_.pop_front();
      act(frame);
    } else if (can_compute()) {
      compute();
    } else if (part_->io.run_one() == 0) {
      break;
    }
  }
  leaving_ = true;
  beside_.join();
  asked_to_leave.cancel();
  part_->run();
  return std::move(part_->end);
}

void Worker::from_head(Frame& frame) {
  // A cut is meant for what is being computed, and a child waits for its parameters; all else waits
  // until that is done.
  if (frame.header.type == MessageType::CutTask) {
    cut_ = std::max(cut_.load(), frame.header.number);
  } else if (frame.header.type == MessageType::SendParameters && computing_) {
    act(frame);
  } else {
    deferred_.push_back(std::move(frame));
  }
}

void Worker::act(Frame& frame) {
  if (part_->common(frame)) return;
  if (frame.header.type == MessageType::Setup) return set_up(frame);
  if (!learner_) return part_->fail(invalid("a worker is set up first"));
  switch (frame.header.type) {
    case MessageType::Peers:
      return meet_peers(frame);
    case MessageType::StartTask: {
      TaskMessage message;
      if (!take(*part_->head, frame, message)) return;
      task_ = message.task;
      told_ = {Clock::now(), cpu_seconds()};
      handed_up_.reset();
      if (!ring_) enter_tree();
      if (handed_to_ && handed_to_ != parent_) handed_to_->close_when_sent();
      handed_to_.reset();
      return;
    }
    case MessageType::FormTree: {
      ParentMessage message;
      if (!take(*part_->head, frame, message)) return;
      next_tree_ = message;
      // Nobody waits for all any more, so a child that hangs does not hold up its parent either.
      if (handing_in_ && !message.waits) hand_in_merged();
      return;
    }
    case MessageType::SendParameters: {
      if (ring_) return act_in_ring(frame);
      SendParametersMessage message;
      if (!take(*part_->head, frame, message)) return;
      owed_.push_back({frame.header.number, message.worker, message.version});
      return serve_children();
    }
    default:
      return ring_ ? act_in_ring(frame)
                   : part_->fail(invalid("the head asked a worker for what it does not do"));
  }
}

void Worker::set_up(Frame& frame) {
  Text text;
  if (!take(*part_->head, frame, text)) return;
  auto parsed = parse_setup(text.text);
  if (!parsed.ok()) return part_->fail(parsed.error());
  const PartSetup& setup = parsed.value();
  auto learner = ports_.make_learner(setup.learner);
  if (!learner.ok()) return part_->fail(learner.error());
  learner_ = std::move(learner).value();
  count_ = static_cast<std::size_t>(learner_->parameter_count());
  flat_.assign(learner_->parameters().begin(), learner_->parameters().end());
  const std::string listen = part_->start.listen.empty()
                                 ? joiner_listens(part_->head->own_address(), setup.head_listens)
                                 : part_->start.listen;
  auto host =
      Host::open(part_->io, listen, part_->transport,
                 [this](auto connection, const Hello& hello) { welcome_child(connection, hello); });
  if (!host.ok()) return part_->fail(host.error());
  host_ = std::move(host).value();
  const std::size_t state = count_ * FlatOptimizer::state_per_parameter(setup.optimizer);
  part_->limit({.floats = count_ + state});
  if (setup.architecture == Architecture::AllReduce) {
    ring_ = std::make_unique<RingMember>(
        setup, ports_, RingMember::Home{.address = host_->address(), .device = learner_->device()},
        flat_);
  }
  part_->head->send(MessageType::Ready, 0,
                    ReadyMessage{.tensors = learner_->tensors(),
                                 .training_samples = learner_->training_samples(),
                                 .address = host_->address(),
                                 .port = host_->port(),
                                 .gpu = ports_.gpu_name(learner_->device())});
}

void Worker::meet_peers(Frame& frame) {
  PeersMessage peers;
  if (!take(*part_->head, frame, peers)) return;
  part_->transport->self = peers.id;
  places_ = std::move(peers.places);
  if (places_.size() != peers.shards.size()) return part_->fail(invalid("shards without places"));
  for (std::size_t i = 0; i < peers.shards.size(); ++i) {
    auto shard = reach(peers.shards[i].first, peers.shards[i].second, &places_[i]);
    if (!shard.ok()) return part_->fail(shard.error());
    shards_.push_back(std::move(shard).value());
  }
  arrived_.assign(shards_.size(), 0);
  part_->start_pulse();
  part_->head->send(MessageType::Joined, 0, Nothing{});
}

Result<std::shared_ptr<Connection>> Worker::reach(const std::string& address, std::uint16_t port,
                                                  const ShardPlace* place) {
  TRY_ASSIGN(auto connection, connect_to(part_->io, address, port, part_->transport));
  connection->send(MessageType::Hello, 0,
                   Hello{.role = PartRole::Worker, .id = part_->transport->self, .pid = 0});
  const std::uint64_t floats = place ? static_cast<std::uint64_t>(place->count()) : count_;
  connection->start(
      {.frame = [this, place](Connection&, Frame& got) { parameters_came(place, got); },
       .closed = [this](Connection& gone, const Error& why) { lost_peer(gone, why); },
       .place = [this, place, floats](const FrameHeader& header) -> std::vector<std::span<float>> {
         if (header.floats != floats) return {};
         flat_version_ = -1;
         handed_on_.reset();
         return place ? piece_of(std::span(flat_), *place)
                      : std::vector<std::span<float>>{std::span(flat_)};
       }},
      {.body = 4096, .floats = floats});
  return connection;
}

void Worker::lost_peer(Connection& gone, const Error& why) {
  if (parent_.get() == &gone || handed_to_.get() == &gone) {
    const bool had_it = handed_to_.get() == &gone;
    if (parent_.get() == &gone) {
      parent_.reset();
      if (task_ && arrived_from_parent_ != task_->number && !ring_) ask_for_parameters();
    }
    if (had_it) lost_parent();
    return;
  }
  const bool shard = std::ranges::any_of(
      shards_, [&gone](const auto& connection) { return connection.get() == &gone; });
  if (!shard || part_->over) return;
  // If it died, the head will begin anew and end this process. If it does not, the fault is here.
  shard_lost_ = std::make_unique<boost::asio::steady_timer>(part_->io, kShardPatience);
  shard_lost_->async_wait([this, why](const boost::system::error_code& error) {
    if (!error) part_->fail(Error(why).at("a shard is gone"));
  });
}

void Worker::parameters_came(const ShardPlace* place, Frame& frame) {
  if (frame.header.type != MessageType::Parameters || !frame.floats.empty()) {
    return part_->fail(invalid("parameters of the wrong shape"));
  }
  if (!place) {
    arrived_from_parent_ = frame.header.number;
  } else {
    arrived_[static_cast<std::size_t>(place - places_.data())] = frame.header.number;
  }
  note_parameters();
}

bool Worker::can_compute() const {
  if (!task_ || computing_ || sends_under_way_ > 0 || handing_in_) return false;
  if (ring_) return ring_->in_ring() || arrived_from_parent_ == task_->number;
  return arrived_from_parent_ == task_->number ||
         std::ranges::all_of(arrived_, [this](std::int64_t task) { return task == task_->number; });
}

void Worker::compute() {
  const Task task = *task_;
  const Told told = told_;
  task_.reset();
  const auto parameters =
      ring_ && ring_->in_ring() ? std::span<const float>(*ring_->store().parameters()) : flat_;
  if (auto set = learner_->set_parameters(parameters); !set.ok()) return part_->fail(set.error());
  computing_ = true;
  // Whoever has children serves them meanwhile: they would wait for up to two tasks of this one.
  if (children_.empty()) {
    return computed(compute_now(task,
                                [this] {
                                  part_->io.poll();
                                  leaving_ = part_->over;
                                }),
                    told);
  }
  boost::asio::post(beside_, [this, task, told] {
    auto work = compute_now(task, [] {});
    boost::asio::post(part_->io, [this, told, work = std::move(work)]() mutable {
      if (!part_->over) computed(std::move(work), told);
    });
  });
}

Result<Worker::Work> Worker::compute_now(const Task& task, const std::function<void()>& between) {
  const auto begin = Clock::now();
  auto done = learner_->compute(task.samples, task.blocks, [&] {
    between();
    return cut_ < task.number && !leaving_;
  });
  if (!done.ok()) return std::move(done).error();
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  Work work{
      .gradient = {.task = task.number, .samples = done.value().samples, .loss = done.value().loss},
      .took_s = took};
  return work;
}

void Worker::computed(Result<Work> work, const Told& told) {
  computing_ = false;
  if (!work.ok()) return part_->fail(work.error());
  Work done = std::move(work).value();
  const double passed_s = std::chrono::duration<double>(Clock::now() - told.at).count();
  if (passed_s > 0) done.gradient.usage.cpu_share = (cpu_seconds() - told.cpu_s) / passed_s;
  if (ring_) return hand_in_to_ring(done.gradient);
  hand_in_when_complete(std::move(done.gradient), passed_s);
}

void Worker::hand_in(const Gradient& gradient, std::span<const float> values,
                     const std::shared_ptr<const void>& keep) {
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    send_gradient(*shards_[i], gradient, piece_of(values, places_[i]), keep);
  }
  part_->head->send(MessageType::GradientDone, gradient.task, GradientMessage{gradient});
}

void Worker::send_gradient(Connection& to, const Gradient& gradient,
                           std::vector<std::span<const float>> values,
                           std::shared_ptr<const void> keep) {
  ++sends_under_way_;
  to.send(MessageType::Gradient, gradient.task, GradientMessage{gradient},
          {.floats = std::move(values), .keep = std::move(keep), .sent = [this] {
             --sends_under_way_;
           }});
}

Status run_worker(const PartStart& start, const TrainPorts& ports) {
  return Worker(ports).run(start);
}

}  // namespace orrery
