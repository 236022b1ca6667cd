#pragma once

#include <openssl/ssl.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "base/connection_limits.h"
#include "model/time.h"

namespace orrery {

struct GuardOptions {
  // Of connections that have shown no certificate: a stranger has nothing to wait for.
  ConnectionLimits strangers{.total = 24, .per_peer = 16};
  ConnectionLimits known{.total = 40, .per_peer = 16};
  Duration handshake = std::chrono::seconds(3);             // for all of it
  Duration without_certificate = std::chrono::seconds(10);  // from the first byte to the last
};

// Bounds the TLS connections of a server, whichever library accepts them: how many there are of one
// address before they show a certificate, of one certificate after that, and how long a handshake
// takes. One that has to go is shut down, and its thread finds it closed. One thread belongs to it.
// It must outlive the connections of every context that it guards.
class ConnectionGuard {
 public:
  explicit ConnectionGuard(const GuardOptions& options);
  ~ConnectionGuard();
  ConnectionGuard(const ConnectionGuard&) = delete;
  ConnectionGuard& operator=(const ConnectionGuard&) = delete;

  void guard(SSL_CTX& context);
  std::int64_t ended() const;  // connections that had to go

 private:
  struct Held {
    std::uint64_t peer = 0;
    int descriptor = -1;
    bool known = false;  // has shown a certificate, which was verified
    std::int64_t begun_ns = 0;
    bool handshaken = false;
    bool ending = false;
  };

  static int index();
  static void on_state(const SSL* connection, int where, int result);
  static void on_free(void* parent, void* pointer, CRYPTO_EX_DATA* data, int index, long argl,
                      void* argp);

  void begins(const SSL* connection);
  void has_shaken_hands(const SSL* connection);
  void forget(const SSL* connection);
  void make_place(const SSL* newcomer);
  void end(Held& held);
  void watch();

  const GuardOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable stops_;
  std::map<const SSL*, Held> held_;
  std::int64_t ended_ = 0;
  bool stopping_ = false;
  std::thread watcher_;
};

}  // namespace orrery
