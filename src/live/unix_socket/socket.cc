#include "live/unix_socket/socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/socket_file.h"

namespace orrery {
namespace {

// A path that is too long for the system is reached through its folder, which stays open as long
// as the address is used.
struct Address {
  sockaddr_un name{};
  Fd folder{};

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

Result<Address> address_of(const std::string& path) {
  Address address;
  address.name.sun_family = AF_UNIX;
  std::string short_path = path;
  if (path.size() >= sizeof address.name.sun_path) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    address.folder = Fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!address.folder.ok()) return system_error(folder, errno);
    short_path =
        "/proc/self/fd/" + std::to_string(address.folder.get()) + "/" + path.substr(slash + 1);
    if (short_path.size() >= sizeof address.name.sun_path) return system_error(path, ENAMETOOLONG);
  }
  std::memcpy(address.name.sun_path, short_path.data(), short_path.size());
  return address;
}

}  // namespace

Result<Fd> listen_at(const std::string& path) {
  TRY_ASSIGN(const Address address, address_of(path));
  TRY(remove_old_socket(path));
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.ok()) return system_error("a socket for " + path, errno);
  if (::bind(fd.get(), address.get(), sizeof address.name) != 0 ||
      ::chmod(path.c_str(), 0666) != 0 || ::listen(fd.get(), 1024) != 0) {
    return system_error(path, errno);
  }
  return fd;
}

Result<Fd> connect_to(const std::string& path) {
  TRY_ASSIGN(const Address address, address_of(path));
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.ok()) return system_error("a socket for " + path, errno);
  if (::connect(fd.get(), address.get(), sizeof address.name) != 0) {
    return system_error(path, errno);
  }
  return fd;
}

Result<uid_t> peer_uid(const Fd& fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return system_error("the user at the other end", errno);
  }
  return peer.uid;
}

}  // namespace orrery
