#pragma once

#include "base/result.h"
#include "live/rpc/client.h"

namespace orrery {

// gRPC reports every refused handshake as a connection that failed. This looks at the port again,
// step by step, and says in words what is wrong: a port of another kind, a certificate of another
// authority, one that has expired or was revoked. `seen` where nothing of this is wrong, or where
// no server answers at all.
Error diagnose(const ClientOptions& options, Error seen);

}  // namespace orrery
