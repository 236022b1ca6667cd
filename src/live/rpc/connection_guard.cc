#include "live/rpc/connection_guard.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {
namespace {

std::int64_t guard_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Without the port. Addresses of one IPv6 network of 64 bits are one machine's for the asking.
std::uint64_t address_of_peer(const SSL* connection) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(SSL_get_fd(connection), reinterpret_cast<sockaddr*>(&peer), &size) != 0) {
    return 0;
  }
  std::string_view bytes;
  if (peer.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
    bytes = {reinterpret_cast<const char*>(&four), sizeof four};
  } else if (peer.ss_family == AF_INET6) {
    bytes = {reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr),
             8};
  }
  return std::hash<std::string_view>()(bytes);
}

// The name in the certificate; 0 where none was shown.
std::uint64_t certificate_of_peer(const SSL* connection) {
  const X509* const certificate = SSL_get0_peer_certificate(connection);
  if (certificate == nullptr) return 0;
  return X509_NAME_hash_ex(X509_get_subject_name(certificate), nullptr, nullptr, nullptr) | 1;
}

}  // namespace

ConnectionGuard::ConnectionGuard(const GuardOptions& options)
    : options_(options), watcher_([this] { watch(); }) {}

ConnectionGuard::~ConnectionGuard() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stops_.notify_all();
  watcher_.join();
}

// Where a connection keeps its guard.
int ConnectionGuard::index() {
  static const int at = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, &on_free);
  return at;
}

void ConnectionGuard::guard(SSL_CTX& context) {
  static const int at = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  SSL_CTX_set_ex_data(&context, at, this);
  SSL_CTX_set_info_callback(&context, [](const SSL* connection, int where, int result) {
    const SSL_CTX* const own = SSL_get_SSL_CTX(connection);
    auto* const guard = static_cast<ConnectionGuard*>(SSL_CTX_get_ex_data(own, at));
    if ((where & SSL_CB_HANDSHAKE_START) != 0) {
      SSL_set_ex_data(const_cast<SSL*>(connection), index(), guard);
      guard->begins(connection);
    }
    on_state(connection, where, result);
  });
}

void ConnectionGuard::on_state(const SSL* connection, int where, int /*result*/) {
  auto* const guard = static_cast<ConnectionGuard*>(SSL_get_ex_data(connection, index()));
  if (guard != nullptr && (where & SSL_CB_HANDSHAKE_DONE) != 0) guard->has_shaken_hands(connection);
}

void ConnectionGuard::on_free(void* parent, void* pointer, CRYPTO_EX_DATA* /*data*/, int /*index*/,
                              long /*argl*/, void* /*argp*/) {
  if (pointer == nullptr) return;
  static_cast<ConnectionGuard*>(pointer)->forget(static_cast<const SSL*>(parent));
}

std::int64_t ConnectionGuard::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void ConnectionGuard::begins(const SSL* connection) {
  const std::lock_guard lock(mutex_);
  if (held_.contains(connection)) return;
  held_[connection] = {.peer = address_of_peer(connection),
                       .descriptor = SSL_get_fd(connection),
                       .begun_ns = guard_clock_ns()};
  make_place(connection);
}

void ConnectionGuard::has_shaken_hands(const SSL* connection) {
  const std::uint64_t name = certificate_of_peer(connection);
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(connection);
  if (found == held_.end()) return;
  found->second.handshaken = true;
  if (name == 0 || found->second.known) return;
  found->second.known = true;
  found->second.peer = name;
  make_place(connection);
}

void ConnectionGuard::forget(const SSL* connection) {
  const std::lock_guard lock(mutex_);
  held_.erase(connection);
}

// The newcomer is there already, and one of its kind goes for it.
void ConnectionGuard::make_place(const SSL* newcomer) {
  const Held& coming = held_.at(newcomer);
  std::vector<OpenConnection> open;
  std::vector<const SSL*> whose;
  for (const auto& [connection, held] : held_) {
    if (connection == newcomer || held.ending || held.known != coming.known) continue;
    open.push_back({.peer = held.peer, .since = held.begun_ns});
    whose.push_back(connection);
  }
  const auto& limits = coming.known ? options_.known : options_.strangers;
  const ConnectionAdmission admission = admit(open, coming.peer, false, limits);
  if (admission.ends) end(held_.at(whose[*admission.ends]));
  if (!admission.admitted) end(held_.at(newcomer));
}

// Under the lock: the connection is not freed, and its descriptor not closed, before it is
// forgotten.
void ConnectionGuard::end(Held& held) {
  held.ending = true;
  ++ended_;
  ::shutdown(held.descriptor, SHUT_RDWR);
}

void ConnectionGuard::watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    stops_.wait_for(lock, std::chrono::milliseconds(200));
    const std::int64_t now = guard_clock_ns();
    for (auto& [connection, held] : held_) {
      if (held.ending || held.known) continue;
      const Duration patience = held.handshaken ? options_.without_certificate : options_.handshake;
      if (now - held.begun_ns > patience.count()) end(held);
    }
  }
}

}  // namespace orrery
