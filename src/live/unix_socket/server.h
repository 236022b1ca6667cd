#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "live/api/api.h"

namespace orrery {

struct UnixSocketServerOptions {
  std::string path{};
  // The caller whose processes have this user id. May be asked again at each connection.
  std::function<Result<Caller>(uid_t uid)> identify{};
  std::function<Status(const Caller&)> admit{};  // one more call; empty: always
  std::size_t message_bytes_max = std::size_t{4} << 20;
  int connections_max = 1024;
  int connections_of_one_max = 256;  // of one user id
  int connections_reserved = 16;     // beyond these, for admins: root and the owner
  // A connection that waits for so long, for its answer or for the rest of a message, gives way to
  // others where there are too many.
  Duration parked_after = std::chrono::seconds(2);
  // How long the rest of a message may be on its way, in and out.
  Duration patience = std::chrono::seconds(10);
};

struct UnixSocketFigures {
  std::int64_t connections = 0;  // that were ever taken
  std::int64_t calls = 0;
  std::int64_t refused = 0;    // connections and calls, by caller or by number
  std::int64_t broken = 0;     // connections that were ended for what came over them
  std::int64_t timed_out = 0;  // connections that were ended half-way through a message
};

// The Api for callers on this machine, at a Unix socket: no keys and no ciphers, since the kernel
// names the user that connects. Frames are those of calls.h, one call of a connection at a time; a
// caller that hangs up is not waited for.
//
// One thread belongs to it, and never waits for a caller or for the Api. The Api must outlive
// stop(); after it the Api is not called again, and late replies go nowhere.
class UnixSocketServer {
 public:
  static Result<std::unique_ptr<UnixSocketServer>> start(UnixSocketServerOptions options, Api& api);
  ~UnixSocketServer();
  UnixSocketServer(const UnixSocketServer&) = delete;
  UnixSocketServer& operator=(const UnixSocketServer&) = delete;

  UnixSocketFigures figures() const;
  void stop();  // ends all connections and removes the socket; may be called twice

 private:
  struct Parts;
  explicit UnixSocketServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace orrery
