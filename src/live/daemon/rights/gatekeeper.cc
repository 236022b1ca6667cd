#include "live/daemon/rights/gatekeeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "live/auth/certificates.h"
#include "live/auth/limits.h"
#include "live/daemon/server/clock.h"

namespace orrery {
namespace {

Error no_certificates() {
  return {Code::FailedPrecondition, "this scheduler has no certificates to give"};
}

double unix_s(std::chrono::sys_seconds time) {
  return static_cast<double>(time.time_since_epoch().count());
}

Caller::Role role_of(Role role) { return static_cast<Caller::Role>(role); }

Error of_other_role(const StoredToken& token) {
  return {Code::FailedPrecondition,
          fmt::format("the token is for the role {0}; join with `--role {0}`",
                      to_string(token.terms.role))};
}

Error of_live_node(const std::string& name) {
  return {Code::FailedPrecondition,
          fmt::format("{0} is the name of a node that is up: stop its agent and wait for its lease "
                      "to end, or `orrery remove {0}`; or join under another --name",
                      name)};
}

CertificateStatus status_of(const CertificateFacts& certificate, const Revocations& revocations) {
  const Status good = revocations.check(certificate);
  return {.serial = certificate.serial,
          .role = role_of(certificate.identity.role),
          .name = certificate.identity.name,
          .from_s = unix_s(certificate.validity.from),
          .until_s = unix_s(certificate.validity.until),
          .revoked = good.ok() ? "" : good.error().message};
}

}  // namespace

Gatekeeper::Gatekeeper(GatekeeperOptions options) : options_(std::move(options)) {
  if (options_.revocations == nullptr) options_.revocations = std::make_shared<Revocations>();
}

std::chrono::sys_seconds Gatekeeper::now() const {
  if (options_.now) return options_.now();
  return std::chrono::floor<std::chrono::seconds>(
      std::chrono::sys_time<Duration>(Duration(Clock::unix_ns())));
}

void Gatekeeper::recall(const std::map<std::string, std::string>& lines) {
  for (const auto& [id, line] : lines) {
    if (auto token = read_token(line); token.ok()) {
      tokens_.put(std::move(token).value());
    } else if (auto issued = read_issued(line); issued.ok()) {
      issued_.put(issued.value());
    } else if (auto revoked = read_revocation(line); revoked.ok()) {
      options_.revocations->put(revoked.value());
    }
  }
}

Gatekeeper::Done<TokenAnswer> Gatekeeper::make(const TokenRequest& request) {
  if (options_.trust == nullptr) return {.answer = no_certificates()};
  const auto ports = options_.ports ? options_.ports() : GatekeeperOptions::Ports{};
  if (ports.https == 0) {
    return {.answer = Error{Code::Unavailable, "the scheduler is starting; ask again in a moment"}};
  }
  const Status served = options_.served.check({static_cast<Role>(request.role), request.name});
  if (!served.ok()) return {.answer = served.error()};
  const TokenTerms terms{
      .role = static_cast<Role>(request.role),
      .name = request.name,
      .until = now() + std::chrono::duration_cast<std::chrono::seconds>(request.valid),
      .uses = request.uses};
  const auto print = fingerprint_of(options_.trust->authority.certificate_pem());
  if (!print.ok()) return {.answer = print.error()};
  auto made = orrery::make_token(terms, print.value(), ports.https);
  if (!made.ok()) return {.answer = made.error()};
  const NewToken token = std::move(made).value();
  Done<TokenAnswer> done{.answer = TokenAnswer{.token = token.text.reveal()}};
  drop_ended(done.kept);
  tokens_.put(token.stored);
  done.kept.push_back({.id = token.stored.id(), .line = write_token(token.stored)});
  return done;
}

// What can never be used again need not be kept.
void Gatekeeper::drop_ended(Kept& kept) {
  const auto before = tokens_.all();
  tokens_.drop_spent(now());
  for (const auto& [digest, token] : before) {
    if (!tokens_.all().contains(digest)) kept.push_back({.id = token.id()});
  }
  const auto issued = issued_.all();
  for (const auto& [serial, certificate] : issued) {
    if (certificate.validity.until > now()) continue;
    issued_.remove(serial);
    kept.push_back({.id = issued_id(serial)});
  }
  for (const auto& [id, revocation] : options_.revocations->all()) {
    if (revocation.until() > now()) continue;
    options_.revocations->remove(id);
    kept.push_back({.id = id});
  }
}

Gatekeeper::Done<JoinAnswer> Gatekeeper::issue(const Identity& identity,
                                               const JoinRequest& request) {
  const auto& authority = options_.trust->authority;
  // Never in the second in which the certificates before it were revoked.
  const auto at = std::max(now(), options_.revocations->free_from(identity));
  auto certificate =
      authority.issue(request.certificate_request, identity, life_of(identity.role), at);
  if (!certificate.ok()) return {.answer = certificate.error()};
  Done<JoinAnswer> done{.answer = JoinAnswer{.certificate = certificate.value(),
                                             .authority = authority.certificate_pem(),
                                             .port = options_.ports ? options_.ports().grpc : 0}};
  drop_ended(done.kept);
  if (const auto facts = facts_of(certificate.value()); facts.ok()) {
    issued_.put(facts.value());
    done.kept.push_back(
        {.id = issued_id(facts.value().serial), .line = write_issued(facts.value())});
  }
  return done;
}

Gatekeeper::Done<JoinAnswer> Gatekeeper::join(
    const Caller& caller, const JoinRequest& request,
    const std::function<bool(const std::string& node)>& is_live) {
  if (options_.trust == nullptr) return {.answer = no_certificates()};
  if (request.token.empty() && !caller.name.empty()) {
    auto renewed = issue({static_cast<Role>(caller.role), caller.name}, request);
    renewed.note = fmt::format("{} has renewed its certificate", caller.name);
    return renewed;
  }
  std::optional<Role> wanted;
  if (request.role) wanted = static_cast<Role>(*request.role);
  const TokenVerdict verdict = tokens_.take(request.token, request.name, now(), wanted);
  if (verdict.fault != TokenFault::None) {
    return {.answer = verdict.fault == TokenFault::OtherRole ? of_other_role(*verdict.token)
                                                             : token_refused(),
            .note = fmt::format("'{}' may not join: {}", request.name.substr(0, 64),
                                to_string(verdict.fault))};
  }
  const Identity& identity = *verdict.identity;
  StoredToken token = *verdict.token;
  if (identity.role == Role::Agent && is_live(identity.name)) {
    ++token.terms.uses;
    tokens_.put(token);
    return {.answer = of_live_node(identity.name),
            .note = fmt::format("'{}' may not join: a node of this name is up", identity.name)};
  }
  auto joined = issue(identity, request);
  joined.note = fmt::format("{} has joined as {}", identity.name, to_string(identity.role));
  joined.kept.push_back({.id = token.id(), .line = write_token(token)});
  return joined;
}

Gatekeeper::Done<TokensAnswer> Gatekeeper::tokens(const TokensRequest& request) {
  Done<TokensAnswer> done{.answer = TokensAnswer{}};
  if (!request.withdraw.empty()) {
    const auto withdrawn = tokens_.withdraw(request.withdraw);
    if (!withdrawn) {
      return {.answer = Error{Code::NotFound,
                              "there is no token of this id; `orrery tokens` lists "
                              "those that can be used"}};
    }
    done.kept.push_back({.id = withdrawn->id()});
    done.note = fmt::format("the token {} is withdrawn", withdrawn->id());
  }
  TokensAnswer answer;
  for (const auto& [digest, token] : tokens_.all()) {
    if (token.terms.uses == 0 || token.terms.until <= now()) continue;
    answer.tokens.push_back({.id = token.id(),
                             .role = role_of(token.terms.role),
                             .name = token.terms.name,
                             .until_s = unix_s(token.terms.until),
                             .uses = token.terms.uses});
  }
  done.answer = std::move(answer);
  return done;
}

TokenKept Gatekeeper::revoke(const Revocation& revocation) {
  options_.revocations->put(revocation);
  return {.id = revocation.id(), .line = write_revocation(revocation)};
}

Gatekeeper::Kept Gatekeeper::revoke_node(const std::string& node, const std::string& by) {
  return {revoke({.identity = {Role::Agent, node}, .at = now(), .by = by})};
}

// A name is revoked in all the roles asked for, whether a certificate of it is known or not: one
// that an older release issued is in no list.
Status Gatekeeper::revoke_named(const CertificatesRequest& request, const std::string& by,
                                CertificatesAnswer& answer, Kept& kept) {
  TRY(check_caller_name(request.revoke_name));
  for (const Role role : kRoles) {
    if (request.role && role_of(role) != *request.role) continue;
    const Identity identity{role, request.revoke_name};
    answer.revoked +=
        std::count_if(issued_.all().begin(), issued_.all().end(), [&](const auto& entry) {
          return entry.second.identity == identity &&
                 options_.revocations->check(entry.second).ok();
        });
    kept.push_back(revoke({.identity = identity, .at = now(), .by = by}));
    const auto tokens = tokens_.all();
    for (const auto& [digest, token] : tokens) {
      if (token.terms.role != role || token.terms.name != request.revoke_name) continue;
      if (token.terms.uses > 0 && token.terms.until > now()) ++answer.withdrawn;
      tokens_.withdraw(token.id());
      kept.push_back({.id = token.id()});
    }
  }
  return {};
}

Gatekeeper::Done<CertificatesAnswer> Gatekeeper::certificates(const Caller& caller,
                                                              const CertificatesRequest& request) {
  CertificatesAnswer answer;
  Kept kept;
  std::string note;
  if (!request.revoke_serial.empty()) {
    if (const Status plain = check_serial(request.revoke_serial); !plain.ok()) {
      return {.answer = plain.error()};
    }
    Revocation revocation{.serial = request.revoke_serial, .at = now(), .by = caller.name};
    const auto known = issued_.all().find(request.revoke_serial);
    if (known != issued_.all().end()) {
      revocation.identity = known->second.identity;
      if (options_.revocations->check(known->second).ok()) answer.revoked = 1;
    }
    kept.push_back(revoke(revocation));
    note = fmt::format("{} has revoked the certificate {}", caller.name, request.revoke_serial);
  }
  if (!request.revoke_name.empty()) {
    if (const Status named = revoke_named(request, caller.name, answer, kept); !named.ok()) {
      return {.answer = named.error()};
    }
    note = fmt::format("{} has revoked the certificates of {}", caller.name, request.revoke_name);
  }
  for (const auto& [serial, certificate] : issued_.all()) {
    if (certificate.validity.until <= now()) continue;
    answer.certificates.push_back(status_of(certificate, *options_.revocations));
  }
  std::ranges::stable_sort(answer.certificates, {}, &CertificateStatus::from_s);
  return {.answer = std::move(answer), .kept = std::move(kept), .note = std::move(note)};
}

}  // namespace orrery
