#include "commands/programs/listeners.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>

#include "base/files.h"
#include "base/test_folder.h"
#include "live/daemon/server/server.h"

namespace orrery {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

int bound_to_any_port(const Fd& socket) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(socket.get(), generic, size), 0);
  EXPECT_EQ(::getsockname(socket.get(), generic, &size), 0);
  return ntohs(address.sin_port);
}

// A listener, and an outgoing connection to it that has a port of its own.
struct Neighbours {
  Neighbours() {
    const sockaddr_in address = loopback(listener_port);
    EXPECT_EQ(::listen(listener.get(), 8), 0);
    EXPECT_EQ(
        ::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
        0);
  }

  Fd listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  Fd connection{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  int listener_port = bound_to_any_port(listener);
  int connection_port = bound_to_any_port(connection);
};

class ListenersTest : public testing::Test {
 protected:
  Status open(int port, std::chrono::milliseconds patience,
              const std::function<void(const std::string&)>& say) {
    auto trust = load_or_make_local(folder_ / "trust", {}, std::chrono::sys_seconds{});
    EXPECT_TRUE(trust.ok()) << trust.error().message;
    auto server = SchedulerServer::start({.state = folder_.path(), .say = say});
    EXPECT_TRUE(server.ok()) << server.error().message;
    Access access;
    access.identify = [](const std::string&) -> Result<Caller> {
      return Error{Code::Unauthenticated, "not in this test"};
    };
    Listeners listeners;
    const Status opened = listeners.open({.state = folder_.path(),
                                          .listen = "127.0.0.1:" + std::to_string(port),
                                          .patience = patience,
                                          .access = access,
                                          .say = say},
                                         trust.value().server, *server.value(), *server.value());
    listeners.stop();
    EXPECT_TRUE(server.value()->stop().ok());
    return opened;
  }

  const TestFolder folder_;
};

TEST_F(ListenersTest, APortThatAConnectionUsesIsWaitedFor) {
  Neighbours neighbours;
  std::string said;
  const Status opened =
      open(neighbours.connection_port, std::chrono::minutes(5), [&](const std::string& line) {
        said += line + "\n";
        if (said.find("waits for it") == said.npos) return;
        neighbours.connection = Fd();
        neighbours.listener = Fd();
      });
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_NE(said.find("a connection of this machine uses the port"), said.npos) << said;
}

TEST_F(ListenersTest, ButNotForEver) {
  const Neighbours neighbours;
  const Status opened =
      open(neighbours.connection_port, std::chrono::milliseconds(0), [](const std::string&) {});
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("a connection of this machine uses the port"),
            std::string::npos)
      << opened.error().message;
}

TEST_F(ListenersTest, APortWithAListenerIsRefusedAtOnce) {
  const Neighbours neighbours;
  std::string said;
  const Status opened = open(neighbours.listener_port, std::chrono::minutes(5),
                             [&](const std::string& line) { said += line + "\n"; });
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("cannot listen there"), std::string::npos);
  EXPECT_EQ(said.find("waits for it"), said.npos) << said;
}

}  // namespace
}  // namespace orrery
