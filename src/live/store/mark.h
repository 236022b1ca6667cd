#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/files.h"
#include "base/result.h"

namespace orrery {

// What a store has acknowledged, in a small file beside it and outside SQLite. SQLite takes a
// damaged end of its write-ahead log for one that was never written, so acknowledged records can
// vanish from the store without an error; they do not vanish from here.
//
// It is written after each commit and not synced, so it costs no wait for the disk. It survives the
// end of the process. After a power cut it may be as old as the system's write-back, half a minute
// as a rule: then it says less than the store holds, which is no fault.
struct MarkWord {
  std::int64_t sequence = 0;  // the last record that was acknowledged
  std::uint32_t crc = 0;      // its checksum
  std::int64_t job = 0;       // the highest number of a job in any record

  bool operator==(const MarkWord&) const = default;
};

class Mark {
 public:
  // The newest word of the file; nothing where there is no file, or an empty one.
  static Result<std::optional<MarkWord>> read(const std::string& path);

  // Makes the file if there is none.
  static Result<Mark> open(const std::string& path);

  // There are two places in the file, written alternately: one is whole at any time.
  Status write(const MarkWord& word);

 private:
  Mark(std::string path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  Fd file_;
  bool second_ = false;
};

// Beside which store.
std::string mark_path(const std::string& store);

// Beyond all numbers of jobs up to `highest`, and so far beyond that those which were given out
// after a lost or old copy of the log, arrays included, are not given out again.
std::int64_t number_after_loss(std::int64_t highest);

}  // namespace orrery
