#pragma once

#include <iosfwd>
#include <string>

namespace orrery {

// Text that must not get into a log: a private key, a token. It prints as "(secret)", compares with
// nothing, and its memory is wiped when it goes. reveal() is where it is used; its callers
// pass the text on to a file or a wire, never to a message.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret other) noexcept;
  ~Secret() { wipe(); }

  const std::string& reveal() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  void wipe();

  std::string text_;
};

std::ostream& operator<<(std::ostream& out, const Secret& secret);

}  // namespace orrery
