#include "cloud/gce/testing/fake_accounts.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/invariant.h"
#include "cloud/gce/credentials.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

struct Freed {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
template <class Type>
using Held = std::unique_ptr<Type, Freed>;

std::string text_in(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

FakeAccount make_account() {
  const Held<EVP_PKEY> key(EVP_RSA_gen(2048));
  const Held<BIO> secret(BIO_new(BIO_s_mem()));
  const Held<BIO> open(BIO_new(BIO_s_mem()));
  INVARIANT(key != nullptr &&
                PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                         nullptr) == 1 &&
                PEM_write_bio_PUBKEY(open.get(), key.get()) == 1,
            "OpenSSL can make a key");
  FakeAccount account;
  account.private_key = text_in(secret.get());
  account.public_key = text_in(open.get());
  return account;
}

std::string bytes_of(std::string text) {
  for (char& c : text) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  const std::size_t padding = (4 - text.size() % 4) % 4;
  text.append(padding, '=');
  std::string bytes(3 * text.size() / 4 + 1, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size) - padding);
  return bytes;
}

bool signature_is_good(const std::string& statement, const std::string& signature) {
  const std::string& pem = fake_account().public_key;
  const Held<BIO> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const Held<EVP_PKEY> key(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
  const Held<EVP_MD_CTX> context(EVP_MD_CTX_new());
  return EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                          signature.size(),
                          reinterpret_cast<const unsigned char*>(statement.data()),
                          statement.size()) == 1;
}

std::pair<int, std::string> no_grant(const std::string& description) {
  return {400, Json{{"error", "invalid_grant"}, {"error_description", description}}.dump()};
}

}  // namespace

const FakeAccount& fake_account() {
  static const FakeAccount account = make_account();
  return account;
}

std::string fake_key_file(const std::string& token_url) {
  return Json{{"type", "service_account"},
              {"project_id", "fake-project"},
              {"private_key_id", "0123456789abcdef"},
              {"private_key", fake_account().private_key},
              {"client_email", fake_account().email},
              {"token_uri", token_url}}
      .dump(2);
}

std::string FakeTokens::give(Time now) {
  ++given_;
  std::string token = fmt::format("ya29.fake-{}-{}", given_, uuid_from(std::to_string(given_)));
  ends_[token] = now + life;
  secrets_.push_back(token);
  return Json{{"access_token", token},
              {"expires_in", life / std::chrono::seconds(1)},
              {"token_type", "Bearer"}}
      .dump();
}

bool FakeTokens::accepts(std::string_view token, Time now) const {
  const auto found = ends_.find(token);
  return found != ends_.end() && now < found->second;
}

std::pair<int, std::string> FakeTokens::trade(std::string_view form, std::string_view audience,
                                              Time now) {
  constexpr std::string_view kBegin =
      "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
  if (!form.starts_with(kBegin)) {
    return {400, Json{{"error", "unsupported_grant_type"}}.dump()};
  }
  const std::string assertion(form.substr(kBegin.size()));
  secrets_.push_back(assertion);
  const std::size_t first = assertion.find('.');
  const std::size_t last = assertion.rfind('.');
  if (first == std::string::npos || first == last) return no_grant("Invalid JWT");
  const Json header = Json::parse(bytes_of(assertion.substr(0, first)), nullptr, false);
  const Json claims =
      Json::parse(bytes_of(assertion.substr(first + 1, last - first - 1)), nullptr, false);
  if (!header.is_object() || header.value("alg", "") != "RS256" || !claims.is_object()) {
    return no_grant("Invalid JWT");
  }
  if (!signature_is_good(assertion.substr(0, last), bytes_of(assertion.substr(last + 1)))) {
    return no_grant("Invalid JWT Signature.");
  }
  if (claims.value("iss", "") != fake_account().email) {
    return no_grant("Invalid grant: account not found");
  }
  if (claims.value("aud", "") != audience) return no_grant("Invalid JWT: Failed audience check.");
  const std::int64_t issued = claims.value("iat", std::int64_t{0});
  const std::int64_t end = claims.value("exp", std::int64_t{0});
  const std::int64_t now_s = now.time_since_epoch() / std::chrono::seconds(1);
  if (end - issued > 3600 || issued > now_s + 300 || end < now_s) {
    return no_grant(
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable "
        "timeframe. Check your iat and exp values in the JWT claim.");
  }
  return {200, give(now)};
}

}  // namespace orrery
