#include "daemon/gatekeeper.h"

#include <fmt/format.h>

#include <chrono>

#include "daemon/clock.h"
#include "trust/certificates.h"
#include "trust/limits.h"

namespace orrery {
namespace {

std::chrono::sys_seconds now() {
  return std::chrono::floor<std::chrono::seconds>(
      std::chrono::sys_time<Duration>(Duration(Clock::unix_ns())));
}

Error nobody() {
  return {Code::FailedPrecondition,
          "this scheduler has no certificates to give; start it without --insecure"};
}

}  // namespace

void Gatekeeper::recall(const std::map<std::string, std::string>& lines) {
  for (const auto& [id, line] : lines) {
    auto token = read_token(line);
    if (token.ok()) tokens_.put(std::move(token).value());
  }
}

Result<Gatekeeper::Made> Gatekeeper::make(const TokenRequest& request) {
  if (trust_ == nullptr) return nobody();
  const TokenTerms terms{
      .role = static_cast<Role>(request.role),
      .name = request.name,
      .until = now() + std::chrono::duration_cast<std::chrono::seconds>(request.valid),
      .uses = request.uses};
  TRY_ASSIGN(const std::string print, fingerprint_of(trust_->authority.certificate_pem()));
  TRY_ASSIGN(NewToken token, orrery::make_token(terms, print));
  tokens_.drop_spent(now());
  tokens_.put(token.stored);
  return Made{.token = token.text.reveal(),
              .kept = {.id = token.stored.id(), .line = write_token(token.stored)}};
}

Result<JoinAnswer> Gatekeeper::issue(const Identity& identity, const std::string& request) const {
  const auto life = life_of(identity.role);
  TRY_ASSIGN(std::string certificate, trust_->authority.issue(request, identity, life, now()));
  return JoinAnswer{.certificate = std::move(certificate),
                    .authority = trust_->authority.certificate_pem()};
}

Gatekeeper::Joined Gatekeeper::join(const Caller& caller, const JoinRequest& request) {
  if (trust_ == nullptr) return {.answer = nobody()};
  if (request.token.empty() && !caller.name.empty()) {
    return {
        .answer = issue({static_cast<Role>(caller.role), caller.name}, request.certificate_request),
        .note = fmt::format("{} has renewed its certificate", caller.name)};
  }
  const TokenVerdict verdict = tokens_.take(request.token, request.name, now());
  if (verdict.fault != TokenFault::None) {
    return {.answer = token_refused(),
            .note = fmt::format("'{}' may not join: {}", request.name.substr(0, 64),
                                to_string(verdict.fault))};
  }
  Joined joined{.answer = issue(*verdict.identity, request.certificate_request),
                .note = fmt::format("{} has joined as {}", verdict.identity->name,
                                    to_string(verdict.identity->role))};
  joined.kept = TokenKept{.id = verdict.token->id(), .line = write_token(*verdict.token)};
  return joined;
}

}  // namespace orrery
