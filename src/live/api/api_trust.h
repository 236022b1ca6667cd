#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "live/api/caller.h"

// What admins ask about tokens, certificates and nodes.

namespace orrery {

struct TokensRequest {
  std::string withdraw{};  // the id of a token that is withdrawn first; empty: none
  bool operator==(const TokensRequest&) const = default;
};
struct TokenStatus {
  std::string id{};  // says nothing about the secret
  Caller::Role role = Caller::Role::User;
  std::string name{};  // empty: any, for agents
  double until_s = 0;  // since 1970, as all times of answers
  int uses = 0;        // left
  bool operator==(const TokenStatus&) const = default;
};
struct TokensAnswer {
  std::vector<TokenStatus> tokens{};
  bool operator==(const TokensAnswer&) const = default;
};

// Revokes first, where a serial number or a name is given. A name means all certificates that were
// issued to it so far, and its tokens.
struct CertificatesRequest {
  std::string revoke_serial{};
  std::string revoke_name{};
  std::optional<Caller::Role> role{};  // of the name; none: whatever roles it has
  bool operator==(const CertificatesRequest&) const = default;
};
struct CertificateStatus {
  std::string serial{};
  Caller::Role role = Caller::Role::User;
  std::string name{};
  double from_s = 0;
  double until_s = 0;
  std::string revoked{};  // why; empty: it is good
  bool operator==(const CertificateStatus&) const = default;
};
struct CertificatesAnswer {
  std::vector<CertificateStatus> certificates{};  // that have not ended
  std::int64_t revoked = 0;                       // by this request
  std::int64_t withdrawn = 0;                     // tokens, by this request
  bool operator==(const CertificatesAnswer&) const = default;
};

struct RemoveNodeRequest {
  std::string node{};
  bool operator==(const RemoveNodeRequest&) const = default;
};

}  // namespace orrery
