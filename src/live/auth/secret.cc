#include "live/auth/secret.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ostream>
#include <utility>

namespace orrery {
namespace {

constexpr std::string_view kShown = "(secret)";

constexpr std::array<std::string_view, 7> kSecretWords{
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "KEY", "CREDENTIAL"};

bool same_letter(char a, char b) {
  return std::toupper(static_cast<unsigned char>(a)) == std::toupper(static_cast<unsigned char>(b));
}

}  // namespace

// A short string is copied by a move and stays behind in the source.
Secret::Secret(Secret&& other) noexcept {
  text_ = other.text_;
  other.wipe();
}

Secret& Secret::operator=(Secret other) noexcept {
  std::swap(text_, other.text_);
  return *this;
}

void Secret::wipe() {
  OPENSSL_cleanse(text_.data(), text_.size());
  text_.clear();
}

std::ostream& operator<<(std::ostream& out, const Secret&) { return out << kShown; }

std::string_view shown_environment_value(std::string_view name, std::string_view value) {
  const bool secret =
      std::any_of(kSecretWords.begin(), kSecretWords.end(), [&](std::string_view word) {
        return std::search(name.begin(), name.end(), word.begin(), word.end(), same_letter) !=
               name.end();
      });
  return secret && !value.empty() ? kShown : value;
}

}  // namespace orrery
