#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cloud/gce/answers.h"
#include "cloud/gce/exchange.h"
#include "cloud/gce/token_source.h"

namespace orrery {

// What became of a call after all tries.
struct GceOutcome {
  std::string body{};  // if there is no error
  std::optional<Error> error{};
  // True if a failed call may have had its effect: an answer was lost, or the service failed.
  bool perhaps_done = false;

  bool ok() const { return !error.has_value(); }
};

// Calls as one service account: each with a token, tried again while that can help. A call with an
// effect must carry a request identity, since it may be sent more than once.
class GceSession {
 public:
  GceSession(std::unique_ptr<GceTransport> host, std::unique_ptr<TokenSource> tokens,
             const GceContext& context)
      : host_(std::move(host)), tokens_(std::move(tokens)), context_(context) {}

  // `kind` is that of the answer: another one counts as no answer.
  GceOutcome ask(GceCall call, std::string_view kind);

  const SecretFilter& secrets() const { return tokens_->secrets(); }
  GceClock& clock() { return context_.clock; }

 private:
  struct Try {
    std::optional<Error> error{};
    bool again = false;
    bool perhaps_done = false;
    bool token_refused = false;
  };
  Try judge(const GceExchange& made, std::string_view kind) const;

  std::unique_ptr<GceTransport> host_;
  std::unique_ptr<TokenSource> tokens_;
  GceContext context_;
};

}  // namespace orrery
