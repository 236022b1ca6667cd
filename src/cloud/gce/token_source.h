#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "cloud/gce/backoff.h"
#include "cloud/gce/clock.h"
#include "cloud/gce/credentials.h"
#include "cloud/gce/exchange.h"
#include "cloud/gce/secret_filter.h"

namespace orrery {

// As which service account calls are made.
struct GceIdentity {
  std::optional<ServiceAccountKey> key{};  // without one the metadata server gives tokens
  std::string metadata_url = "http://metadata.google.internal";
  std::string scope = "https://www.googleapis.com/auth/compute";
  std::string authorities{};  // as in GceHost
};

// What a source shares with its caller. Everything outlives it.
struct GceContext {
  GceClock& clock;
  Random& random;
  BackoffOptions backoff{};
};

// Tokens for calls. One is kept until a minute before its end.
class TokenSource {
 public:
  static Result<std::unique_ptr<TokenSource>> make(GceIdentity identity, const GceContext& context);

  Result<std::string> token();
  // The service refuses the token that is kept.
  void forget() { token_.clear(); }
  // Knows every secret of this source. For messages that others wrote.
  const SecretFilter& secrets() const { return secrets_; }

 private:
  TokenSource(GceIdentity identity, std::unique_ptr<GceTransport> host, const GceContext& context);

  Result<GceCall> call();
  Error refusal(const GceExchange& made) const;
  Error silence(const GceExchange& made) const;

  GceIdentity identity_;
  std::unique_ptr<GceTransport> host_;
  GceContext context_;
  SecretFilter secrets_;
  std::string token_{};
  Time ends_{};
};

// By how much the clock of this machine is wrong, if that explains a refusal: "... is 12 min behind
// the provider's; set it". Empty if it is right to a minute or the answer has no date.
std::string clock_fault(const GceExchange& made, Time now);

}  // namespace orrery
