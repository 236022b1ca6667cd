#include <arpa/inet.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "attack/attack.h"
#include "base/files.h"
#include "live/codec/plain.h"
#include "live/unix_socket/calls.h"
#include "live/unix_socket/frame.h"

// What a stranger on the ports, and a login at the socket, can keep others from.

namespace orrery {
namespace {

Fd connect_to_port(int port) {
  Fd stranger(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  there.sin_port = htons(static_cast<std::uint16_t>(port));
  EXPECT_EQ(connect(stranger.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  return stranger;
}

void say(const Fd& to, std::string_view bytes) {
  static_cast<void>(send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

// True if the other side closes within half a minute.
bool is_closed_in_time(const Fd& connection) {
  const timeval patience{.tv_sec = 30, .tv_usec = 0};
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  char byte = 0;
  ssize_t got = 0;
  while ((got = recv(connection.get(), &byte, 1, 0)) > 0) continue;
  return got == 0 || errno == ECONNRESET;
}

class AttackOnPorts : public AttackTest {
 protected:
  void SetUp() override { scheduler_ = serve({"--local", "--gpus", "1"}); }

  int rest_port() const { return port_in(state() + "/rest"); }
  // The status that root's certificate gets over REST; 0: no answer.
  int rest_status() const { return rest_jobs(state(), state() + "/trust/admin").status; }

  std::unique_ptr<Background> scheduler_;
};

TEST_F(AttackOnPorts, SlowClientsWithoutACertificateDoNotKeepOthersFromRest) {
  const int port = rest_port();
  std::vector<Fd> slow;
  // Silent ones, ones that stop within the handshake, and ones that say nothing of TLS.
  for (int i = 0; i < 96; ++i) {
    slow.push_back(connect_to_port(port));
    if (i % 3 == 1) say(slow.back(), std::string_view("\x16\x03\x01\x02\x00\x01", 6));
    if (i % 3 == 2) say(slow.back(), "GET /v1/jobs HTTP/1.1\r\n");
    if (i % 12 != 0) continue;
    EXPECT_EQ(rest_status(), 200) << "beside " << i + 1 << " slow ones";
  }
  EXPECT_EQ(rest_status(), 200);
  for (const Fd& one : slow) EXPECT_TRUE(is_closed_in_time(one));
  EXPECT_EQ(rest_status(), 200);
}

TEST_F(AttackOnPorts, HandshakesWithoutACertificateThatThenSayNothingAreEnded) {
  std::vector<std::unique_ptr<httplib::SSLClient>> idle;
  for (int i = 0; i < 30; ++i) {
    auto client = std::make_unique<httplib::SSLClient>("127.0.0.1", rest_port());
    client->enable_server_certificate_verification(false);
    client->set_keep_alive(true);
    const auto answer = client->Get("/v1/jobs");
    EXPECT_TRUE(!answer || answer->status == 401);
    idle.push_back(std::move(client));
  }
  EXPECT_EQ(rest_status(), 200);
}

TEST_F(AttackOnPorts, NoiseOnEveryPortAndTheSocketHarmsNoCaller) {
  const int grpc = port_in(state() + "/address");
  for (const int port : {grpc, rest_port()}) {
    for (const std::string& noise :
         {std::string("\0\0\0\0", 4), std::string(100'000, 'x'), std::string(5000, '\xff'),
          std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") + std::string(1000, '\0')}) {
      const Fd stranger = connect_to_port(port);
      say(stranger, noise);
    }
  }
  EXPECT_EQ(ask({"submit", "--wait", "--", "true"}).exit_code, 0);
  EXPECT_EQ(rest_status(), 200);
}

// A login that holds every connection it may, each half-way through a message or waiting.
TEST_F(AttackOnPorts, ALoginThatHoldsItsConnectionsKeepsNeitherItselfNorRootOut) {
  std::vector<Fd> held;
  sockaddr_un there{};
  there.sun_family = AF_UNIX;
  std::strncpy(there.sun_path, (state() + "/socket").c_str(), sizeof there.sun_path - 1);
  std::string waits = open_frame(static_cast<std::uint8_t>(UnixSocketCall::Events));
  append_plain(EventsRequest{.from = 1'000'000, .wait = std::chrono::seconds(30)}, waits);
  close_frame(waits);
  for (int i = 0; i < 300; ++i) {
    held.emplace_back(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(held.back().get(), reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0) {
      ADD_FAILURE() << std::strerror(errno);
      break;
    }
    say(held.back(), i % 2 == 0 ? std::string_view(waits).substr(0, 3) : std::string_view(waits));
  }
  EXPECT_TRUE(eventually([&] { return ask({"status"}).exit_code == 0; }, std::chrono::seconds(8)))
      << ask({"status"}).err;
}

// Of an authority that is not the scheduler's, and of the scheduler's own as a server.
TEST_F(AttackOnPorts, ForeignAndServersCertificatesOpenNothingOverRest) {
  const std::string other = file("other");
  {
    Background stranger({"serve", "--state", other}, file("other.err"));
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(other + "/address"); }));
  }
  const auto status_with = [&](const std::string& pair) { return rest_jobs(state(), pair).status; };
  EXPECT_EQ(status_with(other + "/trust/admin"), 0);
  EXPECT_NE(status_with(state() + "/trust/server"), 200);
  EXPECT_EQ(status_with(state() + "/trust/admin"), 200);
}

// A name is shown in lists, logs and events, on terminals of others.
TEST_F(AttackOnPorts, HostileNamesAreRefusedOrShownHarmless) {
  const std::vector<std::string> names = {"a\x1b[2Jb",
                                          "a\nb",
                                          "a\x07",
                                          "\xe2\x80\xae"
                                          "gpj.exe",
                                          std::string(100'000, 'n'),
                                          "\xff\xfe",
                                          "../../etc/x",
                                          "a\r\norrery_jobs 99"};
  for (const std::string& name : names) ask({"submit", "--name", name, "--", "true"});
  for (const std::string& name : names) ask({"submit", "--tenant", name, "--", "true"});
  std::string shown = ask({"status", "--all"}).out + ask({"events", "--from", "1"}).out;
  for (int i = 1; i <= 4; ++i) shown += ask({"status", std::to_string(i)}).out;
  for (const char* hostile : {"\x1b", "\x07", "\r", "\xff"}) {
    EXPECT_EQ(shown.find(hostile), std::string::npos) << shown.substr(0, 2000);
  }
  EXPECT_EQ(rest_status(), 200);
}

}  // namespace
}  // namespace orrery
