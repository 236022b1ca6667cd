#pragma once

#include <string>

namespace orrery {

// Why a server cannot listen on HOST:PORT of this machine. A port without a listener may still be
// in use: by an outgoing connection to which the kernel gave it, or by a connection that closes.
enum class PortUse { None, Listener, Connection, Unknown };

// What uses the port now. `address` as --listen takes it, with a port above 0; names are resolved.
PortUse port_use(const std::string& address);

// True if the kernel gives the port to outgoing connections of its own choice.
bool is_given_to_connections(int port);

}  // namespace orrery
