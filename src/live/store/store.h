#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/database/database.h"
#include "base/result.h"
#include "live/store/mark.h"
#include "live/store/record.h"

namespace orrery {

struct StoreOptions {
  std::string disk{};  // a registered SQLite VFS; empty: the system's own
  // What the write-ahead log is given when it is empty; it is emptied when it has a thousand pages.
  std::size_t log_bytes = std::size_t{4} << 20;
  // True if what is acknowledged is written beside the store as well (see Mark), and if the store
  // must hold all of it. Not for copies.
  bool keeps_mark = true;
};

// The newest state that can be trusted. Recovery is: load `bytes`, then apply the records from
// sequence + 1 on.
struct Snapshot {
  std::int64_t sequence = 0;  // the last record it covers; 0: none, begin with the first record
  std::string bytes{};
  std::vector<std::int64_t> damaged{};  // newer ones that fail their checksum
};

struct Compaction {
  std::int64_t deleted = 0;  // records
  std::int64_t left = 0;     // records that may go as well, but were too many for once
};

// A log of records on disk, with snapshots of what they add up to, in one SQLite file
// (docs/formats/store.md). What append() and put_snapshot() have acknowledged is on disk: neither
// the end of this process nor a power cut takes it back. A file that lacks acknowledged records, or
// is another log's, is refused when it is opened, and left as it is.
//
// A store is held by one process and used by one thread at a time; Committer makes many threads
// one. After a failed write it is not known what is on disk. So every later write gives the
// same error until the store is opened again.
class Store {
 public:
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  using Visit = std::function<Status(const Record&)>;

  // Makes the file if there is none, and brings one of an earlier version up to date.
  static Result<Store> open(const std::string& path, const StoreOptions& options = {});

  // All or nothing. The first one's sequence is last() + 1, each further one's follows on.
  Status append(std::span<const Record> records);

  // Shows at most `most` records in order, one in memory at a time, and stops at the first error
  // of `visit`, which may not use the store. Records that are missing or damaged are DataLoss and
  // named. `from` is between first() and last() + 1.
  Status read(std::int64_t from, const Visit& visit, std::int64_t most = kAll);

  // What all records up to `sequence` add up to; they are in the log, or were compacted away.
  Status put_snapshot(std::int64_t sequence, const std::string& bytes);
  // Fails if none can be trusted and the log does not reach back to its first record.
  Result<Snapshot> latest_snapshot();

  // Deletes the records that each of the `keep` newest sound snapshots covers, the oldest at most
  // `most` of them, and the snapshots before those; nothing if there are fewer. The file shrinks
  // by what was freed. With 2 or more there is still a way back if the newest is damaged later.
  Result<Compaction> compact(int keep, std::int64_t most = kAll);

  std::int64_t first() const { return compacted_ + 1; }
  std::int64_t last() const { return last_; }  // first() - 1 if there are no records
  const std::string& path() const { return database_.path(); }

 private:
  Store(Database database, Statement insert, std::size_t log_bytes);

  Status load();
  static Status check_mark(Database& database, const MarkWord& word, bool is_new);
  Result<std::uint32_t> checksum_before(std::int64_t sequence);
  Status write(const std::function<Status()>& work);
  Status insert(const Record& record, std::uint32_t crc);
  Result<std::vector<std::int64_t>> snapshot_sequences();
  // Nothing if it is damaged.
  Result<std::optional<std::string>> snapshot_bytes(std::int64_t sequence);
  Error damaged(const std::string& what) const;

  Database database_;
  Statement insert_;
  std::size_t log_bytes_;
  std::int64_t compacted_ = 0;
  std::int64_t last_ = 0;
  std::int64_t chained_from_ = 1;  // checksums of earlier records do not cover the one before
  std::uint32_t crc_before_ = 0;   // of the last record that was compacted away
  std::uint32_t crc_last_ = 0;
  std::int64_t job_ = 0;  // the highest number of a job
  std::optional<Mark> mark_;
  std::optional<Error> failed_;
};

}  // namespace orrery
