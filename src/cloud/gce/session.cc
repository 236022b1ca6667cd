#include "cloud/gce/session.h"

#include "cloud/gce/faults.h"

namespace orrery {

GceOutcome GceSession::ask(GceCall call, std::string_view kind) {
  Backoff backoff(context_.backoff, context_.random);
  const auto headers = call.headers;
  GceOutcome outcome;
  bool token_renewed = false;
  for (;;) {
    auto token = tokens_->token();
    if (!token.ok()) {
      outcome.error = std::move(token).error();
      return outcome;
    }
    call.headers = headers;
    call.headers.emplace_back("Authorization", "Bearer " + token.value());
    GceExchange made = host_->exchange(call);
    const Try tried = judge(made, kind);
    outcome.perhaps_done = outcome.perhaps_done || tried.perhaps_done;
    if (!tried.error) {
      outcome.body = std::move(made.body);
      outcome.error.reset();
      return outcome;
    }
    outcome.error = tried.error;
    if (tried.token_refused && !token_renewed) {
      token_renewed = true;
      tokens_->forget();
      continue;
    }
    if (!tried.again) return outcome;
    const auto pause = backoff.next(made.retry_after);
    if (!pause) return outcome;
    context_.clock.wait(*pause);
  }
}

GceSession::Try GceSession::judge(const GceExchange& made, std::string_view kind) const {
  switch (made.delivery) {
    case Delivery::NotSent:
      return {.error = Error{Code::Unavailable, made.fault}, .again = true};
    case Delivery::Lost:
      return {.error = Error{Code::Unavailable, made.fault}, .again = true, .perhaps_done = true};
    case Delivery::Untrusted:
      return {.error = Error{Code::Unauthenticated, made.fault}};
    case Delivery::TooLarge:
      return {.error = Error{Code::DataLoss, made.fault}, .perhaps_done = true};
    case Delivery::Answered:
      break;
  }
  if (made.status == 200) {
    const auto found = kind_of(made.body);
    if (found == kind) return {};
    const GceFault fault{.code = {},
                         .message = !found ? "the answer is cut off or is not JSON"
                                           : "the answer is not a " + std::string(kind)};
    return {.error = error_of(made.status, fault), .again = true, .perhaps_done = true};
  }
  const GceFault fault = without_secrets(read_fault(made.body), tokens_->secrets());
  Try tried{.error = error_of(made.status, fault),
            .again = may_be_repeated(made.status, fault),
            .perhaps_done = made.status >= 500 && !is_stock_out(fault),
            .token_refused = made.status == 401};
  if (tried.token_refused) {
    const std::string clock = clock_fault(made, context_.clock.now());
    if (!clock.empty()) tried.error->message += "; " + clock;
  }
  return tried;
}

}  // namespace orrery
