#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace orrery {

// The finished runs of a sweep on disk, in the order in which they finished: what a sweep that was
// stopped goes on from, and what its tables are made of. Each record carries its size and a hash.
// What a killed process or a full disk left half-written is cut off when the journal is opened.
//
// append() may be called from several threads; the others not beside it.
class SweepJournal {
 public:
  enum class Begin { Fresh, Resume };

  // Of `runs` runs. `identity` has a line for everything that decides the results. A journal with
  // another identity is refused with the first line that differs. Begin::Fresh refuses one of an
  // unfinished sweep, so that its work is not lost; without a journal, Begin::Resume is the same.
  // No other process has the journal while this one has.
  static Result<SweepJournal> open(const std::string& path, std::string_view identity,
                                   std::size_t runs, Begin begin);

  bool has(std::size_t run) const { return records_[run].has_value(); }
  std::size_t finished() const { return finished_; }
  std::size_t runs() const { return records_.size(); }
  std::int64_t bytes_cut_off() const { return cut_off_; }

  Status append(std::size_t run, std::string_view content);
  Result<std::string> read(std::size_t run) const;  // of a run that it has

 private:
  struct Place {
    std::int64_t offset = 0;
    std::size_t size = 0;
    std::uint64_t hash = 0;
  };

  SweepJournal(std::string path, Fd fd, std::size_t runs)
      : path_(std::move(path)), fd_(std::move(fd)), records_(runs) {}
  Status load(std::string_view identity, Begin begin);
  Status start(std::string_view identity);
  Result<std::optional<std::pair<std::string, Place>>> next(std::int64_t at) const;
  Result<std::string> content(const Place& place) const;
  Status write(std::string_view name, std::string_view content, Place& place);

  std::string path_;
  Fd fd_;
  std::vector<std::optional<Place>> records_;
  std::size_t finished_ = 0;
  std::int64_t end_ = 0;
  std::int64_t cut_off_ = 0;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

// A hash of bytes that is the same on every machine (FNV-1a, 64 bit).
std::uint64_t content_hash(std::string_view bytes, std::uint64_t before = 0xCBF29CE484222325U);

}  // namespace orrery
