#include "live/auth/derived_secret.h"

#include "live/auth/openssl.h"

namespace orrery {

// The key encloses the inner hash, as in HMAC, so that no digest can be extended to another
// purpose.
Secret derived_secret(const Secret& key, std::string_view purpose) {
  const std::string outer = "orrery outer " + sha256(key.reveal());
  const std::string inner = "orrery inner " + sha256(key.reveal());
  return Secret(hex(sha256(outer + sha256(inner + std::string(purpose)))));
}

}  // namespace orrery
