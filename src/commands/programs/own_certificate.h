#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include "base/result.h"
#include "live/api/caller.h"
#include "live/auth/credentials.h"
#include "live/rpc/access.h"

namespace orrery {

// How a certificate is renewed: by a join with the old one and without a token.
using AskToRenew = std::function<Result<JoinAnswer>(const TlsMaterial&, const JoinRequest&)>;

TlsMaterial tls_material(const Credentials& credentials);

// Trades a certificate that has lived for two thirds of its life for a new one of the same key, and
// keeps it. Answers whether there is a new one.
Result<bool> renew_if_due(const std::string& directory, const std::string& name,
                          Credentials& credentials, std::chrono::sys_seconds now,
                          const AskToRenew& ask);

// The certificate of a process that runs for longer than it lives. It is renewed in time, and read
// again when `orrery join` has left another one in its folder. Any thread may use it.
class OwnCertificate {
 public:
  OwnCertificate(std::string directory, std::string name, Credentials credentials, AskToRenew ask);

  TlsMaterial material() const;
  // To be called every minute or so. True: there is another certificate, and connections should be
  // made again with it. An error is worth a line in the log; it is answered once an hour at most.
  Result<bool> tick(std::chrono::sys_seconds now);

 private:
  static constexpr std::chrono::hours kBetweenTries{1};

  const std::string directory_;
  const std::string name_;
  const AskToRenew ask_;
  mutable std::mutex mutex_;
  Credentials credentials_;
  std::chrono::sys_seconds next_try_{};
};

}  // namespace orrery
