#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "live/auth/identity.h"
#include "live/auth/secret.h"

namespace orrery {

// What a join token lets its bearer become.
struct TokenTerms {
  Role role{};
  std::string name{};  // empty: any name, for agents only
  std::chrono::sys_seconds until{};
  int uses = 1;
};

// What the scheduler keeps of a token: enough to know it again, not to make it.
struct StoredToken {
  std::string digest{};  // SHA-256 of the secret part, 64 hexadecimal digits
  TokenTerms terms{};    // uses: those left

  // For lists and logs; says nothing about the secret.
  std::string id() const { return digest.substr(0, 12); }
};

struct NewToken {
  Secret text{};  // shown once, to the caller that asked for it
  StoredToken stored{};
};

// "orrery.SECRET.AUTHORITY.PORT": 256 random bits, the fingerprint of the authority's certificate,
// by which the bearer knows the scheduler at the first contact, and the scheduler's HTTPS port,
// where the bearer joins. Terms that make no sense are InvalidArgument.
Result<NewToken> make_token(const TokenTerms& terms, std::string_view authority_fingerprint,
                            int https_port);

// For the bearer: the HTTPS port that the token names. 0: a token of an older release names none.
Result<int> https_port_of(const Secret& token);

// For the bearer: whether this is the authority that the token is for. Ask before sending it.
Status check_authority(const Secret& token, std::string_view ca_pem);

// One line of text and back; the form in which tokens stand in the scheduler's log.
std::string write_token(const StoredToken& token);
Result<StoredToken> read_token(std::string_view line);

enum class TokenFault { None, Malformed, Unknown, Expired, UsedUp, OtherName, OtherRole };

// For the scheduler's own log.
std::string_view to_string(TokenFault fault);

struct TokenVerdict {
  TokenFault fault = TokenFault::None;
  std::optional<StoredToken> token{};  // as it is now, where it is known
  std::optional<Identity> identity{};  // where there is no fault
};

// The one answer to a bearer, whatever the fault is.
Error token_refused();

// All tokens that were made. For one thread at a time.
class Tokens {
 public:
  // A new token, or what became of one: the last word counts. So the scheduler writes write_token()
  // of every token made or taken to its log, and this is the fold over it.
  void put(StoredToken token);

  // Spends one use, if it is good for this name. How long it takes depends on how many tokens there
  // are, and on nothing about any of them. Before the bearer is answered, the token must be in the
  // log.
  // `role` is what the bearer expects to become; a use is not spent on another.
  TokenVerdict take(std::string_view text, std::string_view name, std::chrono::sys_seconds now,
                    std::optional<Role> role = {});

  // Takes it away for good; nothing where there is none of this id.
  std::optional<StoredToken> withdraw(std::string_view id);

  // Forgets those that can never be taken again.
  void drop_spent(std::chrono::sys_seconds now);

  const std::map<std::string, StoredToken>& all() const { return tokens_; }

 private:
  std::map<std::string, StoredToken> tokens_;  // by digest
};

}  // namespace orrery
