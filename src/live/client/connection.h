#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace orrery {

using Variables = std::map<std::string, std::string>;

// Where the scheduler is, as the caller says it.
struct ConnectionArguments {
  std::string state{};        // its state directory, on this machine
  std::string server{};       // HOST:PORT
  std::string credentials{};  // a directory, with --server
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

// What the arguments name; else ORRERY_STATE. The address in a state directory is that of the
// scheduler that runs there.
Result<Endpoint> find_scheduler(const ConnectionArguments& arguments, const Variables& environment);

// True if the arguments name a state directory that has no address yet, as of a scheduler that is
// starting.
bool may_be_starting(const ConnectionArguments& arguments, const Variables& environment);

// --credentials, else ORRERY_CREDENTIALS, else ~/.config/orrery.
Result<std::string> credentials_directory(const std::string& said, const Variables& environment);

// Refuses what is not HOST:PORT.
Status check_address(const std::string& address);

}  // namespace orrery
