#include "live/agent/master_ports.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <set>

namespace orrery {
namespace {

// Listens on a port, at loopback alone.
Fd listen_on(int port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(socket.get(), 1), 0);
  return socket;
}

TEST(MasterPorts, ARunKeepsItsPortAndNoOtherRunGetsIt) {
  MasterPorts ports;
  std::set<int> seen;
  for (int job = 1; job <= 20; ++job) {
    const int port = ports.take({job, 1}).value();
    EXPECT_TRUE(seen.insert(port).second) << "job " << job;
    EXPECT_EQ(ports.take({job, 1}).value(), port);
  }
}

TEST(MasterPorts, APortOnWhichAProgramListensIsNotChosen) {
  MasterPorts ports;
  const int port = ports.take({1, 1}).value();
  ports.give_back({1, 1});
  const Fd listener = listen_on(port);
  EXPECT_FALSE(is_port_free(port));
  EXPECT_NE(ports.take({1, 1}).value(), port);
}

TEST(MasterPorts, TwoAgentsOfOneMachineNeverChooseTheSame) {
  MasterPorts one;
  MasterPorts other;
  const int port = one.take({1, 1}).value();
  EXPECT_NE(other.take({1, 1}).value(), port);
  one.give_back({1, 1});
  MasterPorts third;
  EXPECT_EQ(third.take({1, 1}).value(), port) << "it was given back";
}

TEST(MasterPorts, AnAdoptedRunHoldsThePortOfItsLaunch) {
  MasterPorts one;
  const int port = one.take({1, 1}).value();
  one.give_back({1, 1});
  one.keep({9, 4}, port);
  EXPECT_EQ(one.take({9, 4}).value(), port);
  EXPECT_NE(one.take({1, 1}).value(), port);
}

}  // namespace
}  // namespace orrery
