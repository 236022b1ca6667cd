#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/result.h"
#include "training/trainer/transport/connection.h"
#include "training/trainer/transport/messages.h"

namespace orrery {

// Where the other parts of a run connect to. A caller whose first message is not a hello with the
// run's token, in time, is refused and counted.
class Host {
 public:
  // Takes the connection over: it must be given handlers at once, or closed.
  using OnPeer = std::function<void(std::shared_ptr<Connection>, const Hello&)>;

  static Result<std::unique_ptr<Host>> open(boost::asio::io_context& io, const std::string& address,
                                            std::shared_ptr<Transport> transport, OnPeer on_peer,
                                            std::uint16_t port = 0);  // 0: a free one
  ~Host();

  std::string address() const;
  std::uint16_t port() const;
  std::int64_t refused() const { return refused_; }

 private:
  Host(boost::asio::io_context& io, tcp::acceptor acceptor, std::shared_ptr<Transport> transport,
       OnPeer on_peer);
  void accept();
  void greet(tcp::socket socket);

  tcp::acceptor acceptor_;
  std::shared_ptr<Transport> transport_;
  OnPeer on_peer_;
  std::list<std::shared_ptr<Connection>> callers_{};  // without a hello, the oldest first
  std::int64_t refused_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace orrery
