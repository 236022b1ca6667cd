#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"

namespace orrery {

// From DeadSyncs on they last until heal().
enum class Fault {
  None,
  FailedWrite,  // one write fails, and wrote nothing
  ShortWrite,   // one write fails half-way
  FailedSync,   // one fsync fails; what it was asked for will not be on disk, though it can be read
  DeadSyncs,    // from one fsync on, all fail like that
  FullDisk,     // from one write on, all fail
  PowerCut,     // from one operation on, all fail; call lose_unsynced() before looking at the files
};

// For tests: an SQLite VFS over the system's files that fails on request, and knows which bytes
// a power cut would take. Nothing is really synced, so it is fast. For one thread at a time.
class FaultyDisk {
 public:
  FaultyDisk();
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  const std::string& name() const { return name_; }  // for StoreOptions::disk

  // The fault happens at the `at`-th operation of its kind from now on, counted from 1.
  void plan(Fault fault, int at);
  bool struck() const { return struck_; }
  // Works from now on; what was not synced is still not.
  void heal() { plan(Fault::None, 0); }

  // Undoes each write since its file was last synced, or not, as chance will have it.
  void lose_unsynced(Random& random);

 private:
  friend struct FaultyFile;

  // A write that a power cut may undo.
  struct Unsynced {
    std::string path{};
    std::int64_t offset = 0;
    std::int64_t size = 0;
    std::int64_t file_size = 0;  // before it
    std::string before{};        // up to the end of the file
    bool doomed = false;         // its fsync failed
  };

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* given);
  static int remove(sqlite3_vfs* vfs, const char* path, int sync_folder);

  bool strikes(bool of_its_kind);
  bool is_of_syncs() const { return fault_ == Fault::FailedSync || fault_ == Fault::DeadSyncs; }
  bool is_off() const { return struck_ && fault_ == Fault::PowerCut; }
  void note(Unsynced write);
  void synced(const std::string& path, bool failed);
  void cut(const std::string& path, std::int64_t size);

  sqlite3_vfs* real_;
  sqlite3_vfs vfs_{};
  std::string name_;
  Fault fault_ = Fault::None;
  int left_ = 0;
  bool struck_ = false;
  std::vector<Unsynced> unsynced_;
};

}  // namespace orrery
