#pragma once

#include <sys/types.h>

#include <string>

namespace orrery {

// A login of this machine, made by useradd. Its processes, its home and its name go with this.
class Login {
 public:
  explicit Login(const std::string& stem);
  ~Login();
  Login(const Login&) = delete;
  Login& operator=(const Login&) = delete;

  bool ok() const { return uid_ != 0; }
  const std::string& name() const { return name_; }
  const std::string& home() const { return home_; }  // 0711, the login's own
  uid_t uid() const { return uid_; }

 private:
  std::string name_;
  std::string home_;
  uid_t uid_ = 0;
};

// Two logins that do not trust each other, made once for all tests. Nothing where this process is
// not root or the machine has no useradd; `why` then says so.
struct Logins {
  const Login* ann = nullptr;
  const Login* bob = nullptr;
  std::string why{};
};
const Logins& logins();

}  // namespace orrery
