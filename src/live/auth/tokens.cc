#include "live/auth/tokens.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "live/auth/certificates.h"
#include "live/auth/line_words.h"
#include "live/auth/openssl.h"

namespace orrery {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kDigits = 2 * kSecretBytes;  // of a secret and of a SHA-256
constexpr int kUsesMax = 100'000;
constexpr std::string_view kAnyName = "*";

bool is_digest(std::string_view text) {
  return text.size() == kDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

struct TokenText {
  std::string_view secret{};
  std::string_view authority{};
  int port = 0;
};

// Nothing where the text is no token.
std::optional<TokenText> parts_of(std::string_view text) {
  constexpr std::string_view kStart = "orrery.";
  constexpr std::size_t kShortest = kStart.size() + kDigits + 1 + kDigits;
  if (text.size() < kShortest || !text.starts_with(kStart) ||
      text[kStart.size() + kDigits] != '.') {
    return std::nullopt;
  }
  TokenText parts{.secret = text.substr(kStart.size(), kDigits),
                  .authority = text.substr(kStart.size() + kDigits + 1, kDigits)};
  if (!is_digest(parts.secret) || !is_digest(parts.authority)) return std::nullopt;
  if (text.size() == kShortest) return parts;
  const std::optional<int> port =
      text[kShortest] == '.' ? number_in<int>(text.substr(kShortest + 1)) : std::nullopt;
  if (!port || *port < 1 || *port > 65535) return std::nullopt;
  parts.port = *port;
  return parts;
}

Error no_token() { return invalid("this is no join token: it reads orrery.SECRET.AUTHORITY.PORT"); }

Status check_terms(const TokenTerms& terms, int uses_min) {
  if (!terms.name.empty()) {
    TRY(check_caller_name(terms.name));
  } else if (terms.role != Role::Agent) {
    return invalid(fmt::format("a token for any {} would let its bearer take any name: give one",
                               to_string(terms.role)));
  }
  if (terms.uses < uses_min || terms.uses > kUsesMax) {
    return invalid(fmt::format("uses: {}; give 1 to {}", terms.uses, kUsesMax));
  }
  return {};
}

TokenFault fault_of(const StoredToken& token, std::string_view name, std::chrono::sys_seconds now) {
  if (now >= token.terms.until) return TokenFault::Expired;
  if (token.terms.uses == 0) return TokenFault::UsedUp;
  if (!token.terms.name.empty() && token.terms.name != name) return TokenFault::OtherName;
  return TokenFault::None;
}

}  // namespace

Result<NewToken> make_token(const TokenTerms& terms, std::string_view authority_fingerprint,
                            int https_port) {
  TRY(check_terms(terms, 1));
  if (https_port < 1 || https_port > 65535) {
    return invalid(fmt::format("the HTTPS port is {}; it is a number from 1 to 65535", https_port));
  }
  if (!is_digest(authority_fingerprint)) {
    return invalid("the authority's fingerprint is 64 hexadecimal digits");
  }
  std::string bytes(kSecretBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(kSecretBytes)) !=
      1) {
    return openssl_error("no random numbers");
  }
  const Secret secret(hex(bytes));
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return NewToken{
      Secret(fmt::format("orrery.{}.{}.{}", secret.reveal(), authority_fingerprint, https_port)),
      {hex(sha256(secret.reveal())), terms}};
}

Result<int> https_port_of(const Secret& token) {
  const auto parts = parts_of(token.reveal());
  if (!parts) return no_token();
  return parts->port;
}

Status check_authority(const Secret& token, std::string_view ca_pem) {
  const auto parts = parts_of(token.reveal());
  if (!parts) return no_token();
  TRY_ASSIGN(const std::string found, fingerprint_of(ca_pem));
  if (found == parts->authority) return {};
  return Error{Code::Unauthenticated,
               fmt::format("the scheduler at this address shows the authority {}, but the token is "
                           "for {}: check the address, or ask for a new token",
                           found.substr(0, 12), parts->authority.substr(0, 12))};
}

std::string write_token(const StoredToken& token) {
  return fmt::format("token {} {} {} {} {}", token.digest, to_string(token.terms.role),
                     token.terms.name.empty() ? kAnyName : std::string_view(token.terms.name),
                     token.terms.until.time_since_epoch().count(), token.terms.uses);
}

Result<StoredToken> read_token(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() != 6 || words[0] != "token") {
    return invalid("no token: it reads token DIGEST ROLE NAME UNTIL USES");
  }
  const auto role = role_named(words[2]);
  const auto until = number_in<std::int64_t>(words[4]);
  const auto uses = number_in<int>(words[5]);
  if (!is_digest(words[1])) return invalid("token: the digest is 64 hexadecimal digits");
  if (!role) return invalid("token: an unknown role");
  if (words[3].empty()) return invalid("token: a name is missing; * is any");
  if (!until || !uses) return invalid("token: a number that cannot be read");
  StoredToken token{std::string(words[1]),
                    {*role, std::string(words[3] == kAnyName ? "" : words[3]),
                     std::chrono::sys_seconds(std::chrono::seconds(*until)), *uses}};
  TRY(check_terms(token.terms, 0));
  return token;
}

std::string_view to_string(TokenFault fault) {
  switch (fault) {
    case TokenFault::None:
      return "good";
    case TokenFault::Malformed:
      return "no token at all";
    case TokenFault::Unknown:
      return "unknown";
    case TokenFault::Expired:
      return "expired";
    case TokenFault::UsedUp:
      return "used up";
    case TokenFault::OtherName:
      return "for another name";
    case TokenFault::OtherRole:
      return "for another role";
  }
  INVARIANT(false, "a fault is one of those above");
}

Error token_refused() {
  return {Code::Unauthenticated,
          "the token is not good here, or not any more: ask an admin for a new one"};
}

void Tokens::put(StoredToken token) {
  std::string digest = token.digest;
  tokens_.insert_or_assign(std::move(digest), std::move(token));
}

TokenVerdict Tokens::take(std::string_view text, std::string_view name,
                          std::chrono::sys_seconds now, std::optional<Role> role) {
  const auto parts = parts_of(text);
  if (!parts || !check_caller_name(name).ok()) return {.fault = TokenFault::Malformed};
  const std::string digest = hex(sha256(parts->secret));
  StoredToken* found = nullptr;
  for (auto& [key, token] : tokens_) {
    if (CRYPTO_memcmp(key.data(), digest.data(), kDigits) == 0) found = &token;
  }
  if (found == nullptr) return {.fault = TokenFault::Unknown};
  TokenFault fault = fault_of(*found, name, now);
  if (fault == TokenFault::None && role && *role != found->terms.role) {
    fault = TokenFault::OtherRole;
  }
  if (fault != TokenFault::None) return {.fault = fault, .token = *found};
  --found->terms.uses;
  return {.token = *found, .identity = Identity{found->terms.role, std::string(name)}};
}

std::optional<StoredToken> Tokens::withdraw(std::string_view id) {
  const auto found = std::find_if(tokens_.begin(), tokens_.end(),
                                  [&](const auto& entry) { return entry.second.id() == id; });
  if (found == tokens_.end()) return std::nullopt;
  StoredToken token = std::move(found->second);
  tokens_.erase(found);
  return token;
}

void Tokens::drop_spent(std::chrono::sys_seconds now) {
  std::erase_if(tokens_, [&](const auto& entry) {
    return entry.second.terms.uses == 0 || now >= entry.second.terms.until;
  });
}

}  // namespace orrery
