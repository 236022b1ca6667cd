#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

// A service account's key. `private_key` goes into signatures and never into a message.
struct ServiceAccountKey {
  std::string email{};
  std::string private_key{};  // PEM
  std::string key_id{};
  std::string token_url{};
  std::string project{};
};

// The JSON file that Google Cloud gives out for a key. `name` stands in messages. The key inside is
// checked: it must be RSA.
Result<ServiceAccountKey> parse_service_account(std::string_view name, std::string_view text);
// The same of a file that no other login may read.
Result<ServiceAccountKey> read_service_account(const std::string& path);

// A signed statement (JWT, RS256) that is traded for a token, valid for an hour from `now`.
Result<std::string> sign_assertion(const ServiceAccountKey& key, std::string_view scope, Time now);

// A UUID that follows from `text`: the same text, the same UUID. Never zero.
std::string uuid_from(std::string_view text);
bool is_uuid(std::string_view text);  // and not zero

std::string base64url(std::string_view bytes);

}  // namespace orrery
