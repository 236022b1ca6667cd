#pragma once

#include <string>

#include "base/result.h"
#include "live/client/command_context.h"
#include "report/listing/list_arguments.h"

namespace orrery {

// The commands about access: tokens, certificates, nodes.

struct TokenArguments {
  ConnectionArguments connection{};
  std::string role = "agent";
  std::string name{};
  std::string valid = "1h";
  int uses = 1;
  bool json = false;
};
Status token_command(const TokenArguments& arguments, const CommandContext& context);

struct TokensArguments {
  ConnectionArguments connection{};
  std::string withdraw{};  // an id; empty: list them
  ListArguments list{};
};
Status tokens_command(const TokensArguments& arguments, const CommandContext& context);

struct CertificatesArguments {
  ConnectionArguments connection{};
  ListArguments list{};
};
Status certificates_command(const CertificatesArguments& arguments, const CommandContext& context);

struct RevokeArguments {
  ConnectionArguments connection{};
  std::string serial{};
  std::string name{};
  std::string role{};  // of the name; empty: whatever roles it has
  bool json = false;
};
Status revoke_command(const RevokeArguments& arguments, const CommandContext& context);

struct RemoveArguments {
  ConnectionArguments connection{};
  std::string node{};
  bool json = false;
};
Status remove_command(const RemoveArguments& arguments, const CommandContext& context);

struct JoinArguments {
  std::string server{};
  std::string credentials{};
  std::string token_file{};  // empty: standard input
  std::string role = "user";
  std::string name{};     // empty: the login name, or for an agent that of the machine
  std::string context{};  // the name it is kept under; empty: the host of the server
  bool json = false;
};
Status join_command(const JoinArguments& arguments, const CommandContext& context);

}  // namespace orrery
