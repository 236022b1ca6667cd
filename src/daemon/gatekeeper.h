#pragma once

#include <map>
#include <optional>
#include <string>

#include "daemon/entry.h"
#include "protocol/api.h"
#include "trust/credentials.h"
#include "trust/tokens.h"

namespace orrery {

// Lets new people and machines in: makes join tokens and trades them for certificates. What is to
// be kept of a token goes into the log before anybody is answered. For one thread at a time.
class Gatekeeper {
 public:
  explicit Gatekeeper(LocalTrust* trust) : trust_(trust) {}

  void recall(const std::map<std::string, std::string>& lines);

  struct Made {
    std::string token;
    TokenKept kept;
  };
  Result<Made> make(const TokenRequest& request);

  struct Joined {
    Result<JoinAnswer> answer;
    std::optional<TokenKept> kept{};
    std::string note{};  // for the operator's log
  };
  // A caller with a certificate gets a new one of the same name; anybody else needs a token.
  Joined join(const Caller& caller, const JoinRequest& request);

 private:
  Result<JoinAnswer> issue(const Identity& identity, const std::string& request) const;

  LocalTrust* trust_;
  Tokens tokens_;
};

}  // namespace orrery
