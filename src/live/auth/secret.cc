#include "live/auth/secret.h"

#include <openssl/crypto.h>

#include <ostream>
#include <utility>

namespace orrery {

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

std::ostream& operator<<(std::ostream& out, const Secret&) { return out << "(secret)"; }

}  // namespace orrery
