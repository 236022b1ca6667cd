#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "live/api/api.h"
#include "live/auth/credentials.h"
#include "live/auth/issued.h"
#include "live/auth/revocations.h"
#include "live/auth/served_users.h"
#include "live/auth/tokens.h"
#include "live/daemon/log/entry.h"

namespace orrery {

struct GatekeeperOptions {
  LocalTrust* trust = nullptr;  // none: no one can join
  // Where the scheduler is reached; 0: not known yet.
  struct Ports {
    int grpc = 0;
    int https = 0;
  };
  std::function<Ports()> ports{};
  // Asked at every call as the caller is identified; kept up to date here.
  std::shared_ptr<Revocations> revocations{};
  ServedUsers served{};                             // users that may be given a token
  std::function<std::chrono::sys_seconds()> now{};  // empty: the machine's clock
};

// Join tokens and certificates: makes, lists, trades, renews, withdraws and revokes them. What is
// to be kept goes into the log before a caller is answered. For one thread at a time.
class Gatekeeper {
 public:
  explicit Gatekeeper(GatekeeperOptions options);

  // The lines of the log.
  void recall(const std::map<std::string, std::string>& lines);

  using Kept = std::vector<TokenKept>;
  template <class Answer>
  struct Done {
    Result<Answer> answer;
    Kept kept{};
    std::string note{};  // for the operator's log
  };
  Done<TokenAnswer> make(const TokenRequest& request);
  // A caller with a certificate gets a new one of the same name; any other needs a token. A token
  // gives no caller the name of a live node.
  Done<JoinAnswer> join(const Caller& caller, const JoinRequest& request,
                        const std::function<bool(const std::string& node)>& is_live);
  Done<TokensAnswer> tokens(const TokensRequest& request);
  Done<CertificatesAnswer> certificates(const Caller& caller, const CertificatesRequest& request);
  // All certificates that the agent of a node had until now.
  Kept revoke_node(const std::string& node, const std::string& by);

 private:
  std::chrono::sys_seconds now() const;
  Done<JoinAnswer> issue(const Identity& identity, const JoinRequest& request);
  TokenKept revoke(const Revocation& revocation);
  Status revoke_named(const CertificatesRequest& request, const std::string& by,
                      CertificatesAnswer& answer, Kept& kept);
  void drop_ended(Kept& kept);

  GatekeeperOptions options_;
  Tokens tokens_;
  IssuedCertificates issued_;
};

}  // namespace orrery
