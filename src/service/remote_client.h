#pragma once

#include <memory>

#include "ctl/surroundings.h"

namespace orrery {

// A scheduler as the commands want it: by the socket in its state directory where somebody listens
// there, else over gRPC.
Result<std::unique_ptr<Client>> connect_remote(const Endpoint& endpoint);

// Makes a key, trades the token for a certificate and keeps both. The token goes only to a server
// of the authority that it names.
Status join_remote(const JoinOrder& order);

}  // namespace orrery
