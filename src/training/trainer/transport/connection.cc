#include "training/trainer/transport/connection.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <thread>

#include "base/invariant.h"
#include "training/trainer/transport/crc32c.h"

namespace orrery {
namespace {

namespace asio = boost::asio;

Error failure(const boost::system::error_code& error) {
  return {Code::Unavailable, error.message()};
}

// Takes up to `limit` bytes off the front.
template <class Buffer>
std::vector<Buffer> take_front(std::vector<Buffer>& buffers, std::size_t limit) {
  std::vector<Buffer> front;
  std::size_t used = 0;
  while (used < buffers.size() && limit > 0) {
    Buffer& next = buffers[used];
    if (next.size() > limit) {
      front.push_back(asio::buffer(next, limit));
      next += limit;
      break;
    }
    limit -= next.size();
    front.push_back(next);
    ++used;
  }
  buffers.erase(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(used));
  return front;
}

std::size_t step_of(const TokenBucket& bucket) {
  return bucket.limited() ? bucket.chunk() : std::numeric_limits<std::size_t>::max();
}

template <class Spans>
std::uint32_t payload_crc(std::span<const std::byte> body, const Spans& floats) {
  std::uint32_t crc = crc32c(body);
  for (const auto& span : floats) crc = crc32c(std::as_bytes(span), crc);
  return crc;
}

}  // namespace

struct Connection::Outgoing {
  std::array<std::byte, kHeaderBytes> header{};
  std::vector<std::byte> body{};
  Load load{};
  std::vector<asio::const_buffer> rest{};
};

Connection::Connection(tcp::socket socket, std::shared_ptr<Transport> transport)
    : socket_(std::move(socket)),
      transport_(std::move(transport)),
      read_timer_(socket_.get_executor()),
      write_timer_(socket_.get_executor()) {
  boost::system::error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  fcntl(socket_.native_handle(), F_SETFD, FD_CLOEXEC);
}

void Connection::start(Handlers handlers, FrameLimits limits) {
  handle(std::move(handlers), limits);
  read_next();
}

void Connection::handle(Handlers handlers, FrameLimits limits) {
  handlers_ = std::move(handlers);
  limits_ = limits;
}

void Connection::read_next() {
  read_all({asio::buffer(header_bytes_)}, [this] {
    auto header = read_header(header_bytes_, transport_->token, limits_);
    if (!header.ok()) return refuse(header.error());
    frame_.header = header.value();
    header_came_ = std::chrono::steady_clock::now();
    read_payload();
  });
}

// The answer has no token: it must not give ours away.
void Connection::refuse(const Error& why) {
  if (sends_refusals_ && why.code == Code::PermissionDenied) {
    boost::system::error_code ignored;
    const auto answer = write_header({.type = MessageType::Refused});
    asio::write(socket_, asio::buffer(answer), ignored);
    // Closing with unread bytes would reset the connection, and the answer with it.
    std::vector<std::byte> rest(socket_.available(ignored));
    if (!rest.empty()) socket_.read_some(asio::buffer(rest), ignored);
  }
  close(why);
}

void Connection::read_payload() {
  const FrameHeader& header = frame_.header;
  frame_.body.resize(header.body);
  std::vector<asio::mutable_buffer> buffers{asio::buffer(frame_.body)};
  placed_.clear();
  if (header.floats > 0) {
    if (handlers_.place) placed_ = handlers_.place(header);
    if (placed_.empty()) {
      frame_.floats = transport_->pool.take(header.floats);
      placed_.emplace_back(frame_.floats);
    }
    std::uint64_t floats = 0;
    for (const std::span<float> span : placed_) floats += span.size();
    INVARIANT(floats == header.floats, "the place for a message's numbers is as long as they are");
  }
  for (const std::span<float> span : placed_) {
    buffers.emplace_back(span.data(), span.size_bytes());
  }
  read_all(std::move(buffers), [this] { finish_frame(); });
}

void Connection::read_all(std::vector<asio::mutable_buffer> buffers, Then then) {
  const std::size_t limit = step_of(transport_->in);
  auto front = limit == std::numeric_limits<std::size_t>::max() ? std::exchange(buffers, {})
                                                                : take_front(buffers, limit);
  asio::async_read(
      socket_, front,
      [this, self = shared_from_this(), rest = std::move(buffers), then = std::move(then)](
          const boost::system::error_code& error, std::size_t count) mutable {
        if (closed_) return;
        if (error) return close(failure(error));
        const auto wait = transport_->in.take(count, TokenBucket::Clock::now());
        if (wait <= TokenBucket::Clock::duration::zero()) {
          return rest.empty() ? then() : read_all(std::move(rest), std::move(then));
        }
        read_timer_.expires_after(wait);
        read_timer_.async_wait([this, self, rest = std::move(rest),
                                then = std::move(then)](const boost::system::error_code&) mutable {
          if (closed_) return;
          rest.empty() ? then() : read_all(std::move(rest), std::move(then));
        });
      });
}

void Connection::finish_frame() {
  if (payload_crc(frame_.body, placed_) != frame_.header.payload_crc) {
    return close({Code::DataLoss, "a message was damaged on its way"});
  }
  frame_.arriving = std::chrono::steady_clock::now() - header_came_;
  // The handler may put others in its own place.
  const auto handler = handlers_.frame;
  if (handler) handler(*this, frame_);
  transport_->pool.give(std::move(frame_.floats));
  frame_ = {};
  if (!closed_) read_next();
}

void Connection::send_bytes(MessageType type, std::int64_t number, std::vector<std::byte> body,
                            Load load) {
  if (closed_ || closing_) return;
  auto message = std::make_shared<Outgoing>();
  FrameHeader header{.type = type,
                     .token = transport_->token,
                     .sender = transport_->self,
                     .number = number,
                     .body = static_cast<std::uint32_t>(body.size())};
  for (const auto span : load.floats) header.floats += span.size();
  header.payload_crc = payload_crc(body, load.floats);
  message->header = write_header(header);
  message->body = std::move(body);
  message->load = std::move(load);
  message->rest = {asio::buffer(message->header), asio::buffer(message->body)};
  for (const auto span : message->load.floats) {
    message->rest.emplace_back(span.data(), span.size_bytes());
  }
  queue_.push_back(std::move(message));
  if (!writing_) write_next();
}

void Connection::write_next() {
  writing_ = !queue_.empty();
  if (writing_) return write_rest();
  if (closing_) close({Code::Cancelled, "closed"});
}

void Connection::write_rest() {
  const auto message = queue_.front();
  const auto front = take_front(message->rest, step_of(transport_->out));
  asio::async_write(
      socket_, front,
      [this, self = shared_from_this(), message](const boost::system::error_code& error,
                                                 std::size_t count) {
        if (closed_) return;
        if (error) return close(failure(error));
        const auto go_on = [this, self, message] {
          if (closed_) return;
          if (!message->rest.empty()) return write_rest();
          queue_.pop_front();
          if (message->load.sent) message->load.sent();
          write_next();
        };
        const auto wait = transport_->out.take(count, TokenBucket::Clock::now());
        if (wait <= TokenBucket::Clock::duration::zero()) return go_on();
        write_timer_.expires_after(wait);
        write_timer_.async_wait([go_on](const boost::system::error_code&) { go_on(); });
      });
}

void Connection::close(const Error& why) {
  if (closed_) return;
  closed_ = true;
  boost::system::error_code ignored;
  socket_.close(ignored);
  read_timer_.cancel();
  write_timer_.cancel();
  asio::post(socket_.get_executor(), [self = shared_from_this(), why] {
    const auto handler = std::move(self->handlers_.closed);
    self->handlers_ = {};
    for (const auto& unsent : std::exchange(self->queue_, {})) {
      if (unsent->load.sent) unsent->load.sent();
    }
    if (handler) handler(*self, why);
  });
}

void Connection::close_when_sent() {
  closing_ = true;
  if (!writing_) close({Code::Cancelled, "closed"});
}

std::string Connection::peer() const {
  boost::system::error_code error;
  const auto end = socket_.remote_endpoint(error);
  return error ? "a closed connection"
               : fmt::format("{}:{}", end.address().to_string(), end.port());
}

std::string Connection::own_address() const {
  boost::system::error_code error;
  const auto end = socket_.local_endpoint(error);
  if (error) return "127.0.0.1";
  const auto address = end.address();
  const bool mapped = address.is_v6() && address.to_v6().is_v4_mapped();
  return mapped ? asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string()
                : address.to_string();
}

Result<std::shared_ptr<Connection>> connect_to(asio::io_context& io, const std::string& host,
                                               std::uint16_t port,
                                               std::shared_ptr<Transport> transport, int attempts) {
  boost::system::error_code error;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(host, std::to_string(port), error);
  const std::string place = fmt::format("{}:{}", host, port);
  if (error) return std::move(failure(error)).at(place);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    for (const auto& entry : found) {
      tcp::socket socket(io);
      socket.connect(entry.endpoint(), error);
      if (!error) return std::make_shared<Connection>(std::move(socket), std::move(transport));
    }
    if (error != asio::error::connection_refused) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return std::move(failure(error)).at(place);
}

}  // namespace orrery
