#include "cloud/gce/credentials.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"

namespace orrery {
namespace {

struct OpensslEnd {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
template <class Type>
using Handle = std::unique_ptr<Type, OpensslEnd>;

// Without it OpenSSL would ask at the terminal for the pass phrase of an encrypted key.
int no_pass_phrase(char*, int, int, void*) { return -1; }

// Null if the text holds no RSA key. OpenSSL's queue of errors stays empty.
Handle<EVP_PKEY> rsa_key(const std::string& pem) {
  const Handle<BIO> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Handle<EVP_PKEY> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_pass_phrase, nullptr));
  ERR_clear_error();
  if (key != nullptr && EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA) key.reset();
  return key;
}

Error bad_file(std::string_view name, std::string_view fault) {
  return invalid(
      fmt::format("{}: {}; make a new key of the service account, in JSON", name, fault));
}

}  // namespace

Result<ServiceAccountKey> parse_service_account(std::string_view name, std::string_view text) {
  const auto value = nlohmann::json::parse(text, nullptr, false);
  if (!value.is_object()) return bad_file(name, "is not a JSON object");
  const auto word = [&](const char* field) {
    const auto found = value.find(field);
    return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (word("type") != "service_account") {
    return bad_file(name, "is not the key of a service account (\"type\" is another)");
  }
  ServiceAccountKey key{.email = word("client_email"),
                        .private_key = word("private_key"),
                        .key_id = word("private_key_id"),
                        .token_url = word("token_uri"),
                        .project = word("project_id")};
  if (key.email.empty()) return bad_file(name, "has no \"client_email\"");
  if (key.token_url.empty()) key.token_url = "https://oauth2.googleapis.com/token";
  if (rsa_key(key.private_key) == nullptr) return bad_file(name, "has no RSA \"private_key\"");
  return key;
}

Result<ServiceAccountKey> read_service_account(const std::string& path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) == 0 && (about.st_mode & 077) != 0) {
    return Error{Code::PermissionDenied,
                 fmt::format("{}: other logins may read this key; `chmod 600 {}`", path, path)};
  }
  TRY_ASSIGN(const std::string text, read_file(path, std::size_t{64} << 10));
  return parse_service_account(path, text);
}

Result<std::string> sign_assertion(const ServiceAccountKey& key, std::string_view scope, Time now) {
  const std::int64_t issued = now.time_since_epoch() / std::chrono::seconds(1);
  const nlohmann::json header = {{"alg", "RS256"}, {"typ", "JWT"}, {"kid", key.key_id}};
  const nlohmann::json claims = {{"iss", key.email},
                                 {"scope", std::string(scope)},
                                 {"aud", key.token_url},
                                 {"iat", issued},
                                 {"exp", issued + 3600}};
  using Handling = nlohmann::json::error_handler_t;
  const std::string statement = base64url(header.dump(-1, ' ', false, Handling::replace)) + "." +
                                base64url(claims.dump(-1, ' ', false, Handling::replace));
  const Handle<EVP_PKEY> rsa = rsa_key(key.private_key);
  const Handle<EVP_MD_CTX> context(EVP_MD_CTX_new());
  if (rsa == nullptr || context == nullptr) return invalid("the private key cannot be read");
  const auto* bytes = reinterpret_cast<const unsigned char*>(statement.data());
  std::size_t size = 0;
  std::string signature;
  bool good = EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, rsa.get()) == 1 &&
              EVP_DigestSign(context.get(), nullptr, &size, bytes, statement.size()) == 1;
  signature.resize(size);
  good = good && EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()),
                                &size, bytes, statement.size()) == 1;
  ERR_clear_error();
  if (!good) return Error{Code::Internal, "the private key cannot sign"};
  signature.resize(size);
  return statement + "." + base64url(signature);
}

std::string uuid_from(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  digest[6] = static_cast<unsigned char>((digest[6] & 0x0f) | 0x50);  // made from a name
  digest[8] = static_cast<unsigned char>((digest[8] & 0x3f) | 0x80);
  std::string uuid;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
    uuid += fmt::format("{:02x}", digest[i]);
  }
  return uuid;
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  bool zero = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (c != '-') return false;
      continue;
    }
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (!digit) return false;
    zero = zero && c == '0';
  }
  return !zero;
}

std::string base64url(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  text.pop_back();
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  return text;
}

}  // namespace orrery
