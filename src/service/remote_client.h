#pragma once

#include <memory>

#include "ctl/surroundings.h"

namespace orrery {

// A scheduler over gRPC, as the commands want it.
Result<std::unique_ptr<Client>> connect_remote(const Endpoint& endpoint);

// Makes a key, trades the token for a certificate and keeps both. The token goes only to a server
// of the authority that it names.
Status join_remote(const JoinOrder& order);

}  // namespace orrery
