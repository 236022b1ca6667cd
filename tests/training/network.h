#pragma once

#include <string>
#include <vector>

namespace orrery {

// Machines on one network, as namespaces of the kernel: each has an address of its own, and its
// loopback reaches only itself. Gone with the object.
class TestNetwork {
 public:
  explicit TestNetwork(int machines);
  ~TestNetwork();
  TestNetwork(const TestNetwork&) = delete;
  TestNetwork& operator=(const TestNetwork&) = delete;

  // Why there is none: namespaces need root and iproute2. Empty: it is there.
  const std::string& missing() const { return missing_; }

  static std::string address(int machine);
  // Another address of a machine, which the others have no way to.
  bool add_unreachable(int machine, const std::string& address);
  std::vector<std::string> on(int machine) const;  // the words before a command

 private:
  bool run(const std::string& command);
  std::string name(int machine) const;
  std::string hub() const;

  const int machines_;
  std::string missing_{};
};

}  // namespace orrery
