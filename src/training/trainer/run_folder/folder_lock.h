#pragma once

#include <string>

#include "base/files.h"
#include "base/result.h"

namespace orrery {

// Holds a run's folder for this process: two heads would mix their tables and checkpoints. The
// kernel releases the lock when the process ends, however it ends.
class FolderLock {
 public:
  // The error names the process that holds the folder.
  static Result<FolderLock> take(const std::string& folder);

 private:
  explicit FolderLock(Fd file) : file_(std::move(file)) {}
  Fd file_;
};

}  // namespace orrery
