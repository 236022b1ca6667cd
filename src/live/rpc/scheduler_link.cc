#include "live/rpc/scheduler_link.h"

#include <orrery/v1/agent.grpc.pb.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "live/codec/wire.h"
#include "live/rpc/channel.h"
#include "live/rpc/diagnosis.h"

namespace orrery {

struct RpcSchedulerLink::Parts {
  Parts(LinkOptions given, OnOrders orders)
      : options(std::move(given)), on_orders(std::move(orders)), thread([this] { run(); }) {}
  ~Parts();

  void run();
  bool attend();  // one connection from its beginning to its end; whether anything came over it
  void rest(Duration length);

  LinkOptions options;  // changed by the thread alone, between connections
  const OnOrders on_orders;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  bool reconnecting = false;  // asked for since the newest certificate was read
  std::optional<v1::Report> newest;
  bool unsent = false;  // on the connection there is
  Connection* connection = nullptr;
  std::thread thread;  // last: it uses all of the above
};

// One stream. Lives on the thread that connects, which waits for its end.
class RpcSchedulerLink::Connection final : public grpc::ClientBidiReactor<v1::Report, v1::Orders> {
 public:
  explicit Connection(Parts& parts) : parts_(parts) {}

  void start(v1::Agents::Stub& stub) {
    stub.async()->Attend(&context_, this);
    // Reports are sent from other threads than the stream's own; this keeps it from ending between.
    AddHold();
    StartRead(&orders_);
    StartCall();
  }
  // With the mutex held.
  void write_next() {
    if (writing_ || closed_ || !parts_.unsent) return;
    going_ = *parts_.newest;
    parts_.unsent = false;
    writing_ = true;
    StartWrite(&going_);
  }
  void cancel() { context_.TryCancel(); }

  bool done() const { return done_; }
  bool heard() const { return heard_; }
  Error why() const {
    const std::string& address = parts_.options.client.address;
    if (wrong_) return Error(*wrong_).at(address);
    if (!status_.ok()) {
      Error error = error_of(status_, address);
      if (heard_ || error.code != Code::Unavailable) return error;
      return diagnose(parts_.options.client, std::move(error));
    }
    return {Code::Unavailable, address + ": the scheduler has closed the connection"};
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return release();
    auto orders = read_wire<Orders>(orders_);
    {
      const std::lock_guard lock(parts_.mutex);
      heard_ = orders.ok();
      if (!orders.ok()) wrong_ = orders.error();
    }
    if (!orders.ok()) {
      cancel();
      return release();
    }
    parts_.on_orders(std::move(orders).value());
    StartRead(&orders_);
  }
  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(parts_.mutex);
    writing_ = false;
    if (ok) write_next();
  }
  void OnDone(const grpc::Status& status) override {
    const std::lock_guard lock(parts_.mutex);
    status_ = status;
    done_ = true;
    parts_.changed.notify_all();
  }
  void release() {
    const std::lock_guard lock(parts_.mutex);
    closed_ = true;
    RemoveHold();
  }

  Parts& parts_;
  grpc::ClientContext context_;
  v1::Report going_;
  v1::Orders orders_;
  grpc::Status status_;
  std::optional<Error> wrong_;  // with what came
  bool writing_ = false;
  bool closed_ = false;
  bool heard_ = false;
  bool done_ = false;
};

RpcSchedulerLink::Parts::~Parts() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
    if (connection != nullptr) connection->cancel();
    changed.notify_all();
  }
  thread.join();
}

bool RpcSchedulerLink::Parts::attend() {
  {
    const std::lock_guard lock(mutex);
    reconnecting = false;
  }
  if (options.newest_certificate) {
    if (auto material = options.newest_certificate()) options.client.tls = std::move(material);
  }
  const auto stub = v1::Agents::NewStub(open_channel(options.client));
  Connection stream(*this);
  stream.start(*stub);
  std::unique_lock lock(mutex);
  connection = &stream;
  if (stopping || reconnecting) stream.cancel();
  unsent = newest.has_value();
  stream.write_next();
  changed.wait(lock, [&] { return stream.done(); });
  connection = nullptr;
  const bool report = !stopping && options.on_lost;
  lock.unlock();
  if (report) options.on_lost(stream.why());
  return stream.heard();
}

void RpcSchedulerLink::Parts::rest(Duration length) {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, length, [this] { return stopping; });
}

void RpcSchedulerLink::Parts::run() {
  std::minstd_rand random{std::random_device{}()};
  std::uniform_real_distribution<double> part(0.5, 1.0);
  Duration pause = options.retry_first;
  for (;;) {
    if (attend()) pause = options.retry_first;
    rest(std::chrono::duration_cast<Duration>(pause * part(random)));
    pause = std::min(pause * 2, options.retry_longest);
    const std::lock_guard lock(mutex);
    if (stopping) return;
  }
}

RpcSchedulerLink::RpcSchedulerLink(LinkOptions options, OnOrders on_orders)
    : parts_(std::make_unique<Parts>(std::move(options), std::move(on_orders))) {}
RpcSchedulerLink::~RpcSchedulerLink() = default;

void RpcSchedulerLink::reconnect() {
  const std::lock_guard lock(parts_->mutex);
  parts_->reconnecting = true;
  if (parts_->connection != nullptr) parts_->connection->cancel();
}

void RpcSchedulerLink::send(Report report) {
  v1::Report message;
  write_wire(report, message);
  const std::lock_guard lock(parts_->mutex);
  parts_->newest = std::move(message);
  parts_->unsent = true;
  if (parts_->connection != nullptr) parts_->connection->write_next();
}

}  // namespace orrery
