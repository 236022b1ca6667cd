#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "live/auth/identity.h"
#include "live/auth/secret.h"

namespace orrery {

// The cluster's own certificate authority: a P-256 key, its certificate, and the only place where
// certificates are signed. It lives in a private directory beside the scheduler's state, as
// authority.pem (key and certificate in one file, so that there is never one without the other) and
// ca.pem (the certificate alone, to be handed out). Copies are the same authority; any thread may
// use it.
class Authority {
 public:
  // Makes it at the first start, loads it later. Processes that start at the same time get the
  // same.
  static Result<Authority> open(const std::string& directory, std::chrono::sys_seconds now);
  // The same for a caller that holds the directory's lock already.
  static Result<Authority> open(const std::string& directory, const Fd& lock,
                                std::chrono::sys_seconds now);
  // A new one that is kept nowhere.
  static Result<Authority> make(std::chrono::sys_seconds now);

  const std::string& certificate_pem() const;

  // A caller's certificate. Of the request only the key is taken, and only if the owner of the
  // key made the request; what else it asks for is ignored. No certificate outlives the
  // authority.
  Result<std::string> issue(std::string_view request_pem, const Identity& identity,
                            std::chrono::seconds life, std::chrono::sys_seconds now) const;

  // A server's, under names and addresses; it cannot be used for calls.
  Result<std::string> issue_server(std::string_view request_pem,
                                   const std::vector<std::string>& hosts, std::chrono::seconds life,
                                   std::chrono::sys_seconds now) const;

 private:
  struct Parts;
  explicit Authority(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

  static Result<Authority> load(const Secret& pem, std::chrono::sys_seconds now);

  std::shared_ptr<const Parts> parts_;
};

}  // namespace orrery
