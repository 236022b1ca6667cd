#include "training/trainer/transport/host.h"

#include <fcntl.h>

namespace orrery {
namespace {

namespace asio = boost::asio;

constexpr auto kPatience = std::chrono::seconds(10);
constexpr std::size_t kCallersMost = 64;
constexpr FrameLimits kHelloLimits{.body = 4096, .floats = 0};

}  // namespace

Result<std::unique_ptr<Host>> Host::open(asio::io_context& io, const std::string& address,
                                         std::shared_ptr<Transport> transport, OnPeer on_peer,
                                         std::uint16_t port) {
  boost::system::error_code error;
  const auto ip = asio::ip::make_address(address, error);
  if (error)
    return invalid("is no address to listen at; write one such as 127.0.0.1, or 0.0.0.0 for all")
        .at(address);
  tcp::acceptor acceptor(io);
  acceptor.open(ip.is_v6() ? tcp::v6() : tcp::v4(), error);
  // A port that is given may have been that of the run before.
  if (!error && port != 0) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind({ip, port}, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    const std::string place = port == 0 ? address : address + ":" + std::to_string(port);
    const bool elsewhere = error == boost::system::errc::address_not_available;
    return Error{elsewhere ? Code::NotFound : Code::Unavailable, error.message()}.at(
        "listening at " + place);
  }
  fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  return std::unique_ptr<Host>(
      new Host(io, std::move(acceptor), std::move(transport), std::move(on_peer)));
}

Host::Host(asio::io_context&, tcp::acceptor acceptor, std::shared_ptr<Transport> transport,
           OnPeer on_peer)
    : acceptor_(std::move(acceptor)),
      transport_(std::move(transport)),
      on_peer_(std::move(on_peer)) {
  accept();
}

Host::~Host() {
  *alive_ = false;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  for (const auto& caller : callers_) caller->close({Code::Cancelled, "closed"});
}

std::string Host::address() const {
  boost::system::error_code ignored;
  return acceptor_.local_endpoint(ignored).address().to_string();
}

std::uint16_t Host::port() const {
  boost::system::error_code ignored;
  return acceptor_.local_endpoint(ignored).port();
}

void Host::accept() {
  acceptor_.async_accept(
      [this, alive = alive_](const boost::system::error_code& error, tcp::socket socket) {
        if (!*alive || error == asio::error::operation_aborted) return;
        if (!error) greet(std::move(socket));
        accept();
      });
}

void Host::greet(tcp::socket socket) {
  // A part says hello at once, so it is not the oldest among callers that say nothing.
  if (callers_.size() >= kCallersMost) {
    const auto oldest = callers_.front();
    callers_.pop_front();
    oldest->close({Code::ResourceExhausted, "too many callers say nothing"});
  }
  auto timer = std::make_shared<asio::steady_timer>(socket.get_executor(), kPatience);
  const auto caller = std::make_shared<Connection>(std::move(socket), transport_);
  caller->send_refusals();
  callers_.push_back(caller);
  std::weak_ptr<Connection> weak = caller;
  timer->async_wait([weak, timer](const boost::system::error_code& error) {
    const auto late = weak.lock();
    if (!error && late) late->close({Code::DeadlineExceeded, "no hello in time"});
  });
  const auto refuse = [this, alive = alive_, timer](Connection& connection, const Error&) {
    if (!*alive) return;
    timer->cancel();
    ++refused_;
    callers_.remove(connection.shared_from_this());
  };
  const auto first = [this, alive = alive_, timer](Connection& connection, MessageFrame& frame) {
    if (!*alive) return;
    auto hello = read_fields<Hello>(frame.body);
    if (frame.header.type != MessageType::Hello || !hello.ok()) {
      return connection.close({Code::PermissionDenied, "a connection begins with a hello"});
    }
    timer->cancel();
    const auto self = connection.shared_from_this();
    callers_.remove(self);
    on_peer_(self, hello.value());
  };
  caller->start({.frame = first, .closed = refuse, .place = {}}, kHelloLimits);
}

}  // namespace orrery
