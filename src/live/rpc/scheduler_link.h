#pragma once

#include <memory>

#include "live/api/agent_link.h"
#include "live/rpc/client.h"

namespace orrery {

struct LinkOptions {
  ClientOptions client{};  // its deadline does not count: the connection stays
  // The certificate for the next connection; empty, or no answer: the one in `client`.
  std::function<std::optional<TlsMaterial>()> newest_certificate{};
  // Between two attempts to connect: twice as long each time, a random part of it left out so that
  // a thousand agents do not come back at the same instant.
  Duration retry_first = std::chrono::milliseconds(100);
  Duration retry_longest = std::chrono::seconds(5);
  // Called with the reason when a connection has ended or could not be made.
  std::function<void(const Error&)> on_lost{};
};

// An agent's connection to its scheduler, kept up until the link is destroyed. Of reports that
// wait, only the newest is sent. Orders, and on_lost, come on threads of the link, one at a time;
// neither is called any more once the destructor has returned.
class RpcSchedulerLink final : public SchedulerLink {
 public:
  RpcSchedulerLink(LinkOptions options, OnOrders on_orders);
  ~RpcSchedulerLink() override;

  void send(Report report) override;
  // Ends the connection, which is made again with the newest certificate.
  void reconnect();

 private:
  class Connection;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace orrery
