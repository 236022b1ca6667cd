#include "commands/programs/service_notice.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "base/files.h"
#include "base/test_folder.h"

namespace orrery {
namespace {

// A service manager that waits at `path`; a leading @ stands for a name outside the file system.
class ServiceManager {
 public:
  explicit ServiceManager(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    if (path.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~ServiceManager() { ::unsetenv("NOTIFY_SOCKET"); }

  // What came; empty: nothing.
  std::string take() const {
    std::array<char, 256> text{};
    const ssize_t size = ::recv(fd_.get(), text.data(), text.size(), MSG_DONTWAIT);
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }

 private:
  Fd fd_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

TEST(ServiceNotice, IsReadAtAPathAndAtAnAbstractName) {
  const TestFolder folder;
  for (const std::string& path : {folder / "notify", "@orrery-test-" + folder.path().substr(5)}) {
    const ServiceManager manager(path);
    notify_service_manager("READY=1\nSTATUS=serves");
    EXPECT_EQ(manager.take(), "READY=1\nSTATUS=serves") << path;
  }
}

TEST(ServiceNotice, WithoutAManagerNothingHappens) {
  ::unsetenv("NOTIFY_SOCKET");
  notify_service_manager("READY=1");
  ::setenv("NOTIFY_SOCKET", "/no/such/socket", 1);
  notify_service_manager("READY=1");
  ::setenv("NOTIFY_SOCKET", std::string(500, 'x').c_str(), 1);
  notify_service_manager("READY=1");
  ::unsetenv("NOTIFY_SOCKET");
}

TEST(ServiceNotice, AManagerThatReadsNothingBlocksNothing) {
  const TestFolder folder;
  const ServiceManager manager(folder / "notify");
  for (int i = 0; i < 10'000; ++i) notify_service_manager("STATUS=busy");
  EXPECT_EQ(manager.take(), "STATUS=busy");
}

}  // namespace
}  // namespace orrery
