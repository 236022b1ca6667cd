#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/files.h"

namespace orrery {

// A process that was started here. It is waited for, and killed first if it still runs.
class Program {
 public:
  // Its errors go to the file `log`, what it prints to the file `out`, or to output() if that is
  // empty. The first word is the program.
  static Result<Program> start(const std::vector<std::string>& command, const std::string& out,
                               const std::string& log);
  Program(Program&& other) noexcept;
  Program& operator=(Program&&) = delete;
  ~Program();

  bool ended_within(int milliseconds) const;
  void signal(int number) const;
  Result<int> wait();  // its status, as of waitpid

  const Fd& output() const { return output_; }

 private:
  Program(pid_t pid, Fd watched, Fd output)
      : pid_(pid), watched_(std::move(watched)), output_(std::move(output)) {}

  pid_t pid_;  // 0: it has been waited for
  Fd watched_, output_;
};

// "orrery-train ended with exit code 2: LAST LINE OF ITS LOG"; empty: with 0.
std::string why_it_failed(const std::string& program, int status, const std::string& log);

}  // namespace orrery
