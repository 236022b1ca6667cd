#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace orrery {

// Keeps secrets out of messages that others wrote. Of a secret that it knows no 16 characters in a
// row are left, wherever a text begins or ends in it. Line ends inside a secret are not looked for.
class SecretFilter {
 public:
  // A secret that stays: a private key.
  void add_for_ever(std::string_view secret);
  // One of many: a token. The newest are known, for longer than a token is valid.
  void add(const std::string& secret);

  std::string clean(std::string_view text) const;

 private:
  void count(std::string_view secret, int change);

  std::unordered_map<std::size_t, int> pieces_;  // hashes of 16 characters, and how often
  std::deque<std::string> recent_;
};

}  // namespace orrery
