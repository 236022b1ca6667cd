#pragma once

#include <memory>

#include "live/client/command_context.h"

namespace orrery {

// Connects to a scheduler: by the Unix socket in its state directory if a scheduler listens there,
// else over gRPC.
Result<std::unique_ptr<Client>> connect_remote(const Endpoint& endpoint);

// Makes a key, trades the token for a certificate over the scheduler's HTTPS port and keeps both.
// The token goes only to a server of the authority that it names. Answers HOST:PORT of gRPC, for
// all other calls.
Result<std::string> join_remote(const JoinOrder& order);

// The scheduler's HTTPS port, as join left it beside the certificates; 0: not known.
int https_port_in(const std::string& credentials);
Status keep_https_port(const std::string& directory, int port);

}  // namespace orrery
