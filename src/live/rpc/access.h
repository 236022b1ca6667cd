#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "live/api/caller.h"

namespace orrery {

// Where a server's certificate (with the authority's behind it) and its key are kept. Both are
// replaced by renaming.
struct TlsFiles {
  std::string certificate{};
  std::string key{};
  unsigned look_every_s = 10;  // gRPC looks for a new one; HTTPS at each handshake
};

// Certificates and keys as PEM text. A server shows its certificate and takes clients whose
// certificate `authority` has signed; a client shows its own, and trusts servers of `authority`.
struct TlsMaterial {
  std::string certificate{};
  std::string key{};
  std::string authority{};
  std::optional<TlsFiles> files{};  // of a server that runs for longer than its certificate lives
};

// What a server asks about a caller. Both may be called from any thread.
struct Access {
  // The holder of this certificate, which the authority has signed: Unauthenticated if it has
  // expired or was revoked. Asked in gRPC's handshake and at every call. Empty where the connection
  // is a plain one, which is possible on this machine only.
  std::function<Result<Caller>(const std::string& certificate_pem)> identify{};
  // True if one more call of the caller is taken. Empty: always.
  std::function<Status(const Caller&)> admit{};
};

// Identifies callers and bounds the number of calls at a time.
class Gate {
 public:
  Gate(Access access, bool tls, int calls_max)
      : access_(std::move(access)), tls_(tls), calls_max_(calls_max) {}

  // Unauthenticated without a certificate, what identify and admit say, or ResourceExhausted while
  // there are too many calls. A call that was admitted must leave().
  Result<Caller> enter(const std::string& certificate_pem);
  // The same for callers that join to get a certificate: without one they have no name.
  Result<Caller> enter_to_join(const std::string& certificate_pem);
  void leave() { --calls_; }
  // Asks again about a caller that is in.
  Result<Caller> identify(const std::string& certificate_pem) const {
    return access_.identify(certificate_pem);
  }

  int calls() const { return calls_; }

 private:
  Result<Caller> admit(Caller caller);

  const Access access_;
  const bool tls_;
  const int calls_max_;
  std::atomic<int> calls_{0};
};

// Splits HOST:PORT, [::1]:PORT; refuses plain connections on an address that others can reach.
struct ListenAddress {
  std::string host{};
  int port = 0;
};
Result<ListenAddress> read_listen_address(const std::string& address, bool tls);

}  // namespace orrery
