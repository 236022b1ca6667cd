#pragma once

#include <string>

#include "base/result.h"
#include "live/rpc/access.h"

namespace orrery {

// What a TLS port shows of itself in a handshake. Nothing of it is verified.
struct SeenServer {
  std::string certificate{};
  std::string authority{};  // the last certificate of its chain
  bool grpc = false;        // it chose HTTP/2, as only gRPC's port does
  bool closed = false;      // gRPC's port closed the connection after the handshake
};

// `own` is shown where it holds a certificate. Unavailable where no TLS server answers within some
// seconds.
Result<SeenServer> look_at_server(const std::string& address, const TlsMaterial& own);

}  // namespace orrery
