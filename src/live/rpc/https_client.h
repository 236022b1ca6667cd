#pragma once

#include <string>

#include "base/result.h"
#include "live/api/api.h"
#include "live/rpc/access.h"

namespace orrery {

// The calls that a client makes of a scheduler's HTTPS port. `tls` needs no certificate.
struct HttpsPlace {
  std::string address{};  // HOST:PORT
  TlsMaterial tls{};
};

// Trades a token for a certificate. The token is sent only to a server of `tls.authority`.
Result<JoinAnswer> join_over_https(const HttpsPlace& place, const JoinRequest& request);

// The name under which the scheduler takes the certificate; Unauthenticated, with the reason, if it
// does not.
Result<Caller> ask_own_name(const HttpsPlace& place);

}  // namespace orrery
