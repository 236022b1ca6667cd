#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace orrery {

struct ServerProgram {
  std::string script{};                    // for /bin/sh; empty: the server runs nothing
  std::vector<std::string> environment{};  // NAME=value, all of it
  std::string log{};                       // its standard output and error are appended here
  std::string exit_file{};  // the wait status of the script is written here when it has ended
};

// A server on this machine: a script, everything that it starts, and a keeper process above them.
// Processes that leave their session or lose their parent stay below the keeper. When the keeper is
// asked to, or when this process has died in any way, it kills all of them and ends.
//
// The keeper lives on after the script has ended, as a machine does. For one thread at a time.
class ServerProcess {
 public:
  static Result<ServerProcess> start(const ServerProgram& program);
  ServerProcess(ServerProcess&& other) noexcept
      : keeper_(std::exchange(other.keeper_, -1)),
        handle_(std::move(other.handle_)),
        commands_(std::move(other.commands_)) {}
  ServerProcess& operator=(ServerProcess&&) = delete;
  ~ServerProcess() { kill(); }

  // SIGTERM to the script and its process group.
  void terminate();
  // Returns when none of the server's processes is left.
  void kill();
  // True if the keeper is gone although nothing has asked for it.
  bool is_gone() const;

 private:
  ServerProcess(pid_t keeper, Fd handle, Fd commands)
      : keeper_(keeper), handle_(std::move(handle)), commands_(std::move(commands)) {}

  pid_t keeper_;
  Fd handle_;    // of the keeper
  Fd commands_;  // to the keeper; it ends when this is closed
};

}  // namespace orrery
