#include "live/auth/listen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace orrery {
namespace {

TEST(Loopback, StaysOnThisMachine) {
  for (const char* address :
       {"127.0.0.1", "127.0.0.1:7000", "127.255.3.4:1", "::1", "[::1]", "[::1]:7000", "localhost",
        "localhost:7000", "::ffff:127.0.0.1", "[::ffff:127.0.0.1]:80", "unix:/run/orrery.sock",
        "0:0:0:0:0:0:0:1"}) {
    EXPECT_TRUE(is_loopback(address)) << address;
  }
}

TEST(Loopback, IsNothingThatOthersReachOrThatCannotBeRead) {
  for (const char* address : {"",
                              ":7000",
                              "0.0.0.0",
                              "0.0.0.0:7000",
                              "::",
                              "[::]:7000",
                              "10.0.0.1",
                              "128.0.0.1:1",
                              "126.255.255.255",
                              "127.0.0.1.example.org",
                              "localhost.example.org",
                              "127.1",
                              "2130706433",
                              "0177.0.0.1",
                              "[::1",
                              "[::1]x",
                              "[::1]7000",
                              "127.0.0.1:",
                              "127.0.0.1:http",
                              "127.0.0.1:123456",
                              "::ffff:10.0.0.1",
                              "::127.0.0.1",
                              "unix:",
                              "::1%eth0",
                              " 127.0.0.1"}) {
    EXPECT_FALSE(is_loopback(address)) << address;
  }
  EXPECT_FALSE(is_loopback(std::string_view("127.0.0.1\0.example.org", 22)));
}

TEST(CertificateHosts, AreTheNamedOnesAndThoseThatTheServerListensOn) {
  using Hosts = std::vector<std::string>;
  EXPECT_EQ(certificate_hosts({"head"}, {"10.0.0.7:7077", "[2001:db8::7]:0", ""}),
            (Hosts{"head", "10.0.0.7", "2001:db8::7"}));
  EXPECT_EQ(certificate_hosts({"head"}, {"head:0", "head:443"}), Hosts{"head"});
  for (const char* all : {"0.0.0.0:7077", "[::]:7077"}) {
    const Hosts found = certificate_hosts({"head"}, {all});
    EXPECT_EQ(found.front(), "head");
    EXPECT_NE(std::ranges::find(found, "127.0.0.1"), found.end()) << all;
    EXPECT_EQ(std::ranges::find(found, "0.0.0.0"), found.end()) << all;
    EXPECT_EQ(std::ranges::find(found, "::"), found.end()) << all;
  }
}

}  // namespace
}  // namespace orrery
