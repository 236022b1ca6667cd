#include "training/trainer/transport/addresses.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(Addresses, AWildcardIsReachedAsTheHeadIs) {
  EXPECT_EQ(reachable("0.0.0.0", "10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(reachable("::", "fd00::1"), "fd00::1");
  EXPECT_EQ(reachable("10.0.0.7", "10.0.0.1"), "10.0.0.7");
}

TEST(Addresses, APartBesideTheHeadReachesAWildcardByLoopback) {
  EXPECT_EQ(beside_head("0.0.0.0"), "127.0.0.1");
  EXPECT_EQ(beside_head("::"), "::1");
  EXPECT_EQ(beside_head("10.0.0.1"), "10.0.0.1");
}

TEST(Addresses, AWorkerOnTheHeadsMachineListensAsWidelyAsTheHead) {
  EXPECT_EQ(joiner_listens("127.0.0.1", "0.0.0.0"), "0.0.0.0");
  EXPECT_EQ(joiner_listens("127.0.0.1", "127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(joiner_listens("10.0.0.2", "0.0.0.0"), "10.0.0.2");
}

TEST(Addresses, APlaceIsAHostAndAPort) {
  EXPECT_EQ(parse_host_port("node-1:20017").value().host, "node-1");
  EXPECT_EQ(parse_host_port("[::1]:7").value().host, "::1");
  EXPECT_EQ(parse_host_port("[::1]:7").value().port, 7);
  for (const char* const wrong : {"", "node", ":7", "node:", "node:0", "node:70000", "node:7x"}) {
    EXPECT_FALSE(parse_host_port(wrong).ok()) << wrong;
  }
}

TEST(Addresses, WhatIsNoAddressIsNeither) {
  EXPECT_FALSE(is_wildcard("node-1"));
  EXPECT_FALSE(is_loopback(""));
}

}  // namespace
}  // namespace orrery
