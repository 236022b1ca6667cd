#include "training/trainer/worker/worker.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include "training/trainer/lease/head_place.h"
#include "training/trainer/transport/addresses.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto value = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return value(usage.ru_utime) + value(usage.ru_stime);
}

}  // namespace

Status WorkerProcess::run(const PartStart& start) {
  auto connected = Part::connect(start, [this](MessageFrame& frame) { from_head(frame); });
  if (!connected.ok()) return std::move(connected).error();
  worker_.part = std::move(connected).value();
  beside_ = std::make_unique<boost::asio::thread_pool>(1);
  leaving_ = false;
  cut_ = 0;
  work(*worker_.part);
  Status end = std::move(worker_.part->end);
  leave();
  return end;
}

void WorkerProcess::work(Part& part) {
  boost::asio::signal_set asked_to_leave(part.io, SIGTERM);
  if (part.start.id < 0) asked_to_leave.add(SIGINT);
  asked_to_leave.async_wait([&part](const boost::system::error_code& error, int) {
    if (!error) part.head->send(MessageType::Leaving, 0, Nothing{});
  });
  while (!part.over) {
    if (!worker_.computing && !deferred_.empty()) {
      MessageFrame frame = std::move(deferred_.front());
      deferred_.pop_front();
      act(frame);
    } else if (can_compute()) {
      compute();
    } else if (part.io.run_one() == 0) {
      break;
    }
  }
  leaving_ = true;
  beside_->join();
  asked_to_leave.cancel();
  part.run();
}

void WorkerProcess::leave() {
  deferred_.clear();
  path_.reset();
  worker_.host.reset();
  worker_.task.reset();
  worker_.computing = false;
  worker_.sends_under_way = 0;
  worker_.incoming = {};
  worker_.part.reset();
}

void WorkerProcess::from_head(MessageFrame& frame) {
  // A cut is meant for what is being computed, and a child waits for its parameters; all else waits
  // until that is done.
  if (frame.header.type == MessageType::CutTask) {
    cut_ = std::max(cut_.load(), frame.header.number);
  } else if (frame.header.type == MessageType::SendParameters && worker_.computing) {
    act(frame);
  } else {
    deferred_.push_back(std::move(frame));
  }
}

void WorkerProcess::act(MessageFrame& frame) {
  if (worker_.part->common(frame)) return;
  if (frame.header.type == MessageType::Setup) return set_up(frame);
  if (!path_) return worker_.part->fail(invalid("a worker is set up first"));
  if (frame.header.type == MessageType::Peers) return meet_peers(frame);
  if (frame.header.type == MessageType::StartTask) return start_task(frame);
  path_->act(frame);
}

void WorkerProcess::set_up(MessageFrame& frame) {
  Part& part = *worker_.part;
  Text text;
  if (!take(*part.head, frame, text)) return;
  auto parsed = parse_setup(text.text);
  if (!parsed.ok()) return part.fail(parsed.error());
  const PartSetup& setup = parsed.value();
  if (!worker_.learner) {
    auto learner = worker_.ports.make_learner(setup.learner);
    if (!learner.ok()) return part.fail(learner.error());
    worker_.learner = std::move(learner).value();
  }
  worker_.incoming.resize(worker_.learner->parameters());
  const std::string listen = part.start.listen.empty()
                                 ? joiner_listens(part.head->own_address(), setup.head_listens)
                                 : part.start.listen;
  auto host = Host::open(
      part.io, listen, part.transport,
      [this](auto connection, const Hello& hello) { path_->welcome_child(connection, hello); });
  if (!host.ok()) return part.fail(host.error());
  worker_.host = std::move(host).value();
  const std::size_t count = worker_.count();
  part.limit({.floats = count + count * FlatOptimizer::state_per_parameter(setup.optimizer)});
  path_ = setup.architecture == Architecture::AllReduce ? make_ring_path(worker_, setup)
                                                        : make_tree_path(worker_);
  part.head->send(MessageType::Ready, 0,
                  ReadyMessage{.tensors = worker_.learner->tensors(),
                               .training_samples = worker_.learner->training_samples(),
                               .address = worker_.host->address(),
                               .port = worker_.host->port(),
                               .gpu = worker_.ports.gpu_name(worker_.learner->device())});
}

void WorkerProcess::meet_peers(MessageFrame& frame) {
  Part& part = *worker_.part;
  PeersMessage peers;
  if (!take(*part.head, frame, peers)) return;
  part.transport->self = peers.id;
  if (const Status met = path_->meet(peers); !met.ok()) return part.fail(met.error());
  // A start-up is as fast as the machine allows: a provider's delays stand for that of a server.
  if (part.start.cores > 0 && !quota_) {
    auto quota = OwnQuota::take(part.start.cores);
    if (!quota.ok()) return part.fail(std::move(quota).error().at("--cores"));
    quota_.emplace(std::move(quota).value());
  }
  part.start_pulse();
  part.head->send(MessageType::Joined, 0, Nothing{});
}

void WorkerProcess::start_task(MessageFrame& frame) {
  TaskMessage message;
  if (!take(*worker_.part->head, frame, message)) return;
  worker_.task = message.task;
  arrival_ = {.at = Clock::now(), .cpu_s = cpu_seconds()};
  path_->task_begins();
}

bool WorkerProcess::can_compute() const {
  if (!worker_.task || worker_.computing || worker_.sends_under_way > 0) return false;
  return !path_->handing_in() && path_->has_parameters(*worker_.task);
}

void WorkerProcess::compute() {
  const Task task = *worker_.task;
  TaskArrival arrival = arrival_;
  arrival.begun = Clock::now();
  worker_.task.reset();
  if (auto set = worker_.learner->set_parameters(path_->parameters()); !set.ok()) {
    return worker_.part->fail(set.error());
  }
  worker_.computing = true;
  if (!path_->has_children()) {
    return computed(compute_now(task,
                                [this] {
                                  worker_.part->io.poll();
                                  leaving_ = worker_.part->over;
                                }),
                    arrival);
  }
  // Children are served meanwhile: they would wait for up to two tasks of this one.
  boost::asio::post(*beside_, [this, task, arrival] {
    auto gradient = compute_now(task, [] {});
    boost::asio::post(worker_.part->io, [this, arrival, gradient = std::move(gradient)]() mutable {
      if (!worker_.part->over) computed(std::move(gradient), arrival);
    });
  });
}

Result<Gradient> WorkerProcess::compute_now(const Task& task,
                                            const std::function<void()>& between) {
  auto done = worker_.learner->compute(task.samples, task.blocks, [&] {
    between();
    return cut_ < task.number && !leaving_;
  });
  if (!done.ok()) return std::move(done).error();
  return Gradient{.task = task.number, .samples = done.value().samples, .loss = done.value().loss};
}

void WorkerProcess::computed(Result<Gradient> computed, const TaskArrival& arrival) {
  worker_.computing = false;
  if (!computed.ok()) return worker_.part->fail(computed.error());
  Gradient gradient = std::move(computed).value();
  const auto since = [now = Clock::now()](Clock::time_point before) {
    return std::chrono::duration<double>(now - before).count();
  };
  const double passed_s = since(arrival.at);
  gradient.compute_s = since(arrival.begun);
  gradient.receive_s = passed_s - gradient.compute_s;
  if (passed_s > 0) gradient.usage.cpu_share = (cpu_seconds() - arrival.cpu_s) / passed_s;
  path_->hand_in(std::move(gradient), passed_s);
}

Status run_worker(const PartStart& start, const TrainPorts& ports) {
  WorkerProcess worker(ports);
  return under_each_head(start, [&](const PartStart& once) { return worker.run(once); });
}

}  // namespace orrery
