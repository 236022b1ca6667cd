#include "live/rpc/agent_service.h"

#include <grpc/grpc_security_constants.h>

#include <map>
#include <mutex>
#include <utility>

#include "live/codec/wire.h"
#include "live/rpc/grpc_words.h"

namespace orrery {

using Stream = grpc::ServerBidiReactor<v1::Report, v1::Orders>;

// What the host holds of a connection. It may outlive the stream, which is why it stands apart.
class StreamLink final : public AgentLink {
 public:
  explicit StreamLink(Stream& stream) : stream_(&stream) {}

  void send(Orders orders) override {
    v1::Orders message;
    write_wire(orders, message);
    const std::lock_guard lock(mutex_);
    if (stream_ == nullptr) return;
    waiting_.Swap(&message);
    waits_ = true;
    if (!writing_) write_next();
  }
  void close() override { finish(grpc::Status::OK); }

  void written(bool ok) {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (ok && stream_ != nullptr && waits_) write_next();
  }
  void read(v1::Report& report) {
    const std::lock_guard lock(mutex_);
    if (stream_ != nullptr) stream_->StartRead(&report);
  }
  void finish(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    if (Stream* const stream = std::exchange(stream_, nullptr)) stream->Finish(status);
  }

 private:
  void write_next() {
    going_.Swap(&waiting_);
    waits_ = false;
    writing_ = true;
    stream_->StartWrite(&going_);
  }

  std::mutex mutex_;
  Stream* stream_;  // null once it is finished
  v1::Orders going_;
  v1::Orders waiting_;
  bool waits_ = false;
  bool writing_ = false;
};

// The connections there are, each with the certificate it was made with.
class AgentStreams {
 public:
  void add(const std::shared_ptr<StreamLink>& link, std::string certificate) {
    const std::lock_guard lock(mutex_);
    open_[link] = std::move(certificate);
  }
  void remove(const std::shared_ptr<StreamLink>& link) {
    const std::lock_guard lock(mutex_);
    open_.erase(link);
  }
  std::map<std::shared_ptr<StreamLink>, std::string> all() const {
    const std::lock_guard lock(mutex_);
    return open_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::shared_ptr<StreamLink>, std::string> open_;
};

namespace {

class AgentStream final : public Stream {
 public:
  AgentStream(AgentHost& host, Gate& gate, const Caller& caller,
              std::shared_ptr<AgentStreams> streams, std::string certificate)
      : host_(host),
        gate_(gate),
        streams_(std::move(streams)),
        link_(std::make_shared<StreamLink>(*this)) {
    streams_->add(link_, std::move(certificate));
    connection_ = host_.connected(caller, link_);
    link_->read(report_);
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return link_->finish(grpc::Status::OK);
    auto report = read_wire<Report>(report_);
    if (!report.ok()) return link_->finish(grpc_status(report.error()));
    host_.reported(connection_, std::move(report).value());
    link_->read(report_);
  }
  void OnWriteDone(bool ok) override { link_->written(ok); }
  void OnCancel() override { link_->finish(grpc::Status::CANCELLED); }
  void OnDone() override {
    streams_->remove(link_);
    host_.gone(connection_);
    gate_.leave();
    delete this;
  }

  AgentHost& host_;
  Gate& gate_;
  const std::shared_ptr<AgentStreams> streams_;
  std::shared_ptr<StreamLink> link_;
  std::int64_t connection_ = 0;
  v1::Report report_;
};

class RefusedStream final : public Stream {
 public:
  explicit RefusedStream(const Error& error) { Finish(grpc_status(error)); }

 private:
  void OnDone() override { delete this; }
};

}  // namespace

std::string peer_certificate(const grpc::CallbackServerContext& context) {
  const auto proof = context.auth_context();
  if (proof == nullptr || !proof->IsPeerAuthenticated()) return {};
  const auto found = proof->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  return found.empty() ? std::string() : std::string(found[0].data(), found[0].size());
}

Stream* AgentService::Attend(grpc::CallbackServerContext* context) {
  std::string certificate = peer_certificate(*context);
  auto caller = gate_.enter(certificate);
  if (!caller.ok()) return new RefusedStream(caller.error());
  if (caller.value().role != Caller::Role::Agent) {
    gate_.leave();
    return new RefusedStream({Code::PermissionDenied,
                              caller.value().name + " is no agent, and only agents attend; get a "
                                                    "certificate of that role by a join token"});
  }
  return new AgentStream(host_, gate_, caller.value(), streams_, std::move(certificate));
}

AgentService::AgentService(AgentHost& host, Gate& gate)
    : host_(host), gate_(gate), streams_(std::make_shared<AgentStreams>()) {}

void AgentService::check_again() {
  for (const auto& [link, certificate] : streams_->all()) {
    const auto caller = gate_.identify(certificate);
    if (!caller.ok()) link->finish(grpc_status(caller.error()));
  }
}

void AgentService::let_reconnect() {
  for (const auto& [link, certificate] : streams_->all()) {
    link->finish({grpc::UNAVAILABLE, "the scheduler has a new certificate; connect again"});
  }
}

}  // namespace orrery
