#include "system/relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <vector>

namespace orrery {
namespace {

sockaddr_in here(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// False when there will be nothing more.
bool pass_some(int from, int to) {
  std::array<char, 65536> buffer;
  const ssize_t got = recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  for (ssize_t sent = 0; sent < got;) {
    const ssize_t more =
        send(to, buffer.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
    if (more <= 0) return false;
    sent += more;
  }
  return got > 0;
}

}  // namespace

Relay::Relay(const std::string& target)
    : target_port_(std::stoi(target.substr(target.rfind(':') + 1))),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = here(0);
  socklen_t size = sizeof address;
  auto* const general = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, general, size) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, general, &size) != 0) {
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

Relay::~Relay() {
  ends_ = true;
  thread_.join();
  for (const Pair& pair : pairs_) {
    close(pair.from);
    close(pair.to);
  }
  close(listener_);
}

void Relay::cut(bool to_target, bool from_target) {
  cut_to_ = to_target;
  cut_from_ = from_target;
}

void Relay::accept_one() {
  const int from = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (from < 0) return;
  const int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = here(target_port_);
  if (connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(from);
    close(to);
    return;
  }
  pairs_.push_back({.from = from, .to = to});
}

bool Relay::pass(const Pair& pair) const {
  return (cut_to_ || pass_some(pair.from, pair.to)) && (cut_from_ || pass_some(pair.to, pair.from));
}

void Relay::run() {
  while (!ends_) {
    std::vector<pollfd> waited;
    const bool cut = cut_to_ || cut_from_;
    if (!cut) waited.push_back({.fd = listener_, .events = POLLIN, .revents = 0});
    for (const Pair& pair : pairs_) {
      if (!cut_to_) waited.push_back({.fd = pair.from, .events = POLLIN, .revents = 0});
      if (!cut_from_) waited.push_back({.fd = pair.to, .events = POLLIN, .revents = 0});
    }
    poll(waited.data(), waited.size(), 10);
    if (!cut && waited.front().revents != 0) accept_one();
    for (auto pair = pairs_.begin(); pair != pairs_.end();) {
      if (pass(*pair)) {
        ++pair;
        continue;
      }
      close(pair->from);
      close(pair->to);
      pair = pairs_.erase(pair);
    }
  }
}

}  // namespace orrery
