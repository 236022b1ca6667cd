#pragma once

#include <string>

#include "base/result.h"
#include "live/client/contexts.h"

namespace orrery {

// Where the scheduler is, as the caller says it.
struct ConnectionArguments {
  std::string state{};        // its state directory, on this machine
  std::string server{};       // HOST:PORT
  std::string credentials{};  // a directory, with --server
  std::string context{};      // the name of one that was kept, instead of all these
};

// Its address and the certificate of the caller: DIRECTORY/ca.pem, NAME.pem and NAME.key.
struct Endpoint {
  std::string address{};  // HOST:PORT, [ADDRESS]:PORT
  std::string credentials{};
  std::string certificate{};  // the NAME
  std::string socket{};       // a socket on this machine, which may be there; empty: elsewhere
  bool operator==(const Endpoint&) const = default;
};

inline constexpr const char* kSocketName = "socket";         // in a state directory
inline constexpr const char* kOwnersCertificate = "admin";   // in a state directory's trust/
inline constexpr const char* kJoinedCertificate = "client";  // where `orrery join` leaves it
inline constexpr const char* kAgentCertificate = "agent";    // the same for a node
inline constexpr const char* kHttpsPortFile = "https_port";  // beside certificates: the scheduler's

// What names the scheduler, the first of these that does:
// - the arguments: a state directory, a server or a context;
// - ORRERY_STATE, ORRERY_SERVER or ORRERY_CONTEXT;
// - the current context;
// - the default state directory, if it is there.
struct SchedulerChoice {
  NamedContext scheduler{};  // the name is empty where it is no context
  std::string source{};      // what named it, for errors; empty: the arguments
};
Result<SchedulerChoice> choose_scheduler(const ConnectionArguments& arguments,
                                         const Variables& environment);

// Where that is. The address in a state directory is that of the scheduler that runs there.
Result<Endpoint> find_scheduler(const ConnectionArguments& arguments, const Variables& environment);

// The state directory that a command on this machine means: the argument, else ORRERY_STATE, else
// the default one.
Result<std::string> state_directory(const std::string& said, const Variables& environment);

// True if a state directory is meant that has no address yet, as of a scheduler that is starting.
bool may_be_starting(const ConnectionArguments& arguments, const Variables& environment);

// --credentials, else ORRERY_CREDENTIALS, else the config directory.
Result<std::string> credentials_directory(const std::string& said, const Variables& environment);

// Refuses what is not HOST:PORT.
Status check_address(const std::string& address);

}  // namespace orrery
