#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "training/trainer/shard/float_pool.h"
#include "training/trainer/transport/token_bucket.h"
#include "training/trainer/transport/wire.h"

namespace orrery {

using boost::asio::ip::tcp;

struct MessageFrame {
  FrameHeader header{};
  std::vector<std::byte> body{};
  std::vector<float> floats{};                     // empty if they were placed elsewhere
  std::chrono::steady_clock::duration arriving{};  // from its header's being there to its end's
};

// What all connections of one process share.
struct Transport {
  RunToken token{};
  std::int32_t self = -1;  // the sender's number in what is sent
  FloatPool pool{};
  TokenBucket in{}, out{};
};

// One end of a connection between two processes of a run: whole, checked messages in and out. All
// calls, and all calls back, are on the thread of its io_context. A fault of any kind closes it.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Handlers {
    std::function<void(Connection&, MessageFrame&)> frame{};
    std::function<void(Connection&, const Error&)> closed{};  // once, never from within send()
    // Where the floats of a message go, in all just as many as it has; none: into the frame.
    std::function<std::vector<std::span<float>>(const FrameHeader&)> place{};
  };

  Connection(tcp::socket socket, std::shared_ptr<Transport> transport);

  void start(Handlers handlers, FrameLimits limits);
  void handle(Handlers handlers, FrameLimits limits);  // from the next message on

  // `floats` are sent from where they lie; `keep` holds them until they are gone, and `sent` is
  // called then, or when the connection is closed before.
  struct Load {
    std::vector<std::span<const float>> floats{};
    std::shared_ptr<const void> keep{};
    std::function<void()> sent{};
  };
  void send_bytes(MessageType type, std::int64_t number, std::vector<std::byte> body, Load load);
  template <class M>
  void send(MessageType type, std::int64_t number, const M& message, Load&& load) {
    send_bytes(type, number, write_fields(message), std::move(load));
  }
  template <class M>
  void send(MessageType type, std::int64_t number, const M& message) {
    send_bytes(type, number, write_fields(message), {});
  }

  void close(const Error& why);
  void close_when_sent();
  void send_refusals() { sends_refusals_ = true; }  // to a peer with another token
  bool open() const { return socket_.is_open(); }
  std::string peer() const;
  std::string own_address() const;

 private:
  struct Outgoing;
  using Then = std::function<void()>;
  void read_next();
  void refuse(const Error& why);
  void read_payload();
  void read_all(std::vector<boost::asio::mutable_buffer> buffers, Then then);
  void finish_frame();
  void write_next();
  void write_rest();

  tcp::socket socket_;
  std::shared_ptr<Transport> transport_;
  boost::asio::steady_timer read_timer_, write_timer_;
  Handlers handlers_{};
  FrameLimits limits_{};
  std::array<std::byte, kHeaderBytes> header_bytes_{};
  MessageFrame frame_{};
  std::chrono::steady_clock::time_point header_came_{};
  std::vector<std::span<float>> placed_{};
  std::deque<std::shared_ptr<Outgoing>> queue_{};
  bool writing_ = false, closing_ = false, closed_ = false, sends_refusals_ = false;
};

// Blocks until it is there or has failed; tries again while no process listens there, ten times a
// second.
Result<std::shared_ptr<Connection>> connect_to(boost::asio::io_context& io, const std::string& host,
                                               std::uint16_t port,
                                               std::shared_ptr<Transport> transport,
                                               int attempts = 50);

}  // namespace orrery
