#include <openssl/evp.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "live/auth/authority.h"
#include "live/auth/certificates.h"
#include "live/auth/issued.h"
#include "live/auth/listen.h"
#include "live/auth/revocations.h"
#include "live/auth/tokens.h"

using namespace orrery;

namespace {

constexpr std::chrono::sys_seconds kNow{std::chrono::seconds(1'800'000'000)};

const Authority& authority() {
  static const Authority made = Authority::make(kNow).value();
  return made;
}

std::string as_pem(std::string_view label, std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  text.pop_back();
  std::string pem = "-----BEGIN " + std::string(label) + "-----\n";
  for (std::size_t at = 0; at < text.size(); at += 64) pem += text.substr(at, 64) + "\n";
  return pem + "-----END " + std::string(label) + "-----\n";
}

void read_as_certificate(std::string_view pem) {
  if (const auto identity = identity_of(pem); identity.ok()) {
    INVARIANT(parse_identity(identity_uri(identity.value())).value() == identity.value(),
              "what was read can be written");
  }
  if (const auto validity = validity_of(pem); validity.ok()) should_renew(validity.value(), kNow);
  (void)covers(pem, {"localhost", "::1"});
  (void)fingerprint_of(pem);
  INVARIANT(!caller_of(authority().certificate_pem(), pem, kNow).ok(), "no caller has its key");
  INVARIANT(!signed_caller(authority().certificate_pem(), pem).ok(), "nor at any other time");
  if (const auto facts = facts_of(pem); facts.ok()) {
    (void)check_time(facts.value(), kNow);
    INVARIANT(read_issued(write_issued(facts.value())).ok(), "what was read can be written");
  }
}

void read_as_request(std::string_view pem) {
  const Identity identity{Role::User, "ann"};
  const auto issued = authority().issue(pem, identity, std::chrono::hours(1), kNow);
  if (!issued.ok()) {
    INVARIANT(issued.error().code == Code::InvalidArgument, issued.error().message.c_str());
    return;
  }
  const auto caller = caller_of(authority().certificate_pem(), issued.value(), kNow);
  INVARIANT(caller.ok() && caller.value() == identity,
            "the caller has the identity that was certified");
}

void read_as_token(std::string_view text) {
  Tokens tokens;
  (void)https_port_of(Secret(std::string(text)));
  if (const auto issued = read_issued(text); issued.ok()) {
    INVARIANT(read_issued(write_issued(issued.value())).ok(), "what was read can be written");
  }
  if (const auto revoked = read_revocation(text); revoked.ok()) {
    INVARIANT(read_revocation(write_revocation(revoked.value())).ok(), "and so can this");
  }
  if (const auto token = read_token(text); token.ok()) {
    INVARIANT(
        write_token(token.value()) == write_token(read_token(write_token(token.value())).value()),
        "what was read can be written");
    tokens.put(token.value());
  }
  INVARIANT(!tokens.take(text, "ann", kNow).identity, "a digest is no secret");
  (void)check_authority(Secret(std::string(text)), authority().certificate_pem());
}

}  // namespace

// Whatever comes over the wire before the caller is known, as text and as the bytes inside PEM.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  read_as_certificate(input);
  read_as_certificate(as_pem("CERTIFICATE", input));
  read_as_request(input);
  read_as_request(as_pem("CERTIFICATE REQUEST", input));
  read_as_token(input);
  const bool hidden = input.find('\0') != input.npos;
  INVARIANT(!(hidden && is_loopback(input)), "a zero byte hides the rest of an address");
  return 0;
}
