#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "live/store/store.h"

namespace orrery {
namespace {

// Below SQLite's own limit of a thousand million for a row.
constexpr std::size_t kSnapshotBytesMax = 900'000'000;

}  // namespace

Status Store::put_snapshot(std::int64_t sequence, const std::string& bytes) {
  if (sequence < std::max<std::int64_t>(compacted_, 1) || sequence > last_) {
    return invalid(fmt::format("{}: a snapshot covers records up to one between {} and {}, not {}",
                               path(), std::max<std::int64_t>(compacted_, 1), last_, sequence));
  }
  if (bytes.size() > kSnapshotBytesMax) {
    return invalid(fmt::format("{}: a snapshot has at most {} bytes, not {}", path(),
                               kSnapshotBytesMax, bytes.size()));
  }
  return write([&]() -> Status {
    TRY_ASSIGN(Statement put, database_.prepare("INSERT OR REPLACE INTO snapshot VALUES(?,?,?)"));
    put.bind(1, sequence);
    put.bind_bytes(2, bytes);
    put.bind(3, checksum(sequence, bytes));
    TRY(put.step());
    return {};
  });
}

Result<std::vector<std::int64_t>> Store::snapshot_sequences() {
  TRY_ASSIGN(Statement rows,
             database_.prepare("SELECT sequence FROM snapshot ORDER BY sequence DESC"));
  std::vector<std::int64_t> sequences;
  while (true) {
    TRY_ASSIGN(const bool found, rows.step());
    if (!found) return sequences;
    sequences.push_back(rows.number(0));
  }
}

Result<std::optional<std::string>> Store::snapshot_bytes(std::int64_t sequence) {
  TRY_ASSIGN(Statement row, database_.prepare("SELECT bytes,crc FROM snapshot WHERE sequence=?"));
  row.bind(1, sequence);
  Result<bool> found = row.step();
  if (!found.ok() && found.error().code == Code::DataLoss) return std::optional<std::string>();
  TRY(found);
  if (!found.value()) return std::optional<std::string>();
  std::string bytes(row.bytes(0));
  if (row.number(1) != static_cast<std::int64_t>(checksum(sequence, bytes))) {
    return std::optional<std::string>();
  }
  return std::optional<std::string>(std::move(bytes));
}

Result<Snapshot> Store::latest_snapshot() {
  TRY_ASSIGN(const std::vector<std::int64_t> sequences, snapshot_sequences());
  Snapshot snapshot;
  for (const std::int64_t sequence : sequences) {
    // An older one needs records that are gone.
    if (sequence < compacted_) break;
    TRY_ASSIGN(std::optional<std::string> bytes, snapshot_bytes(sequence));
    if (bytes) {
      snapshot.sequence = sequence;
      snapshot.bytes = *std::move(bytes);
      return snapshot;
    }
    snapshot.damaged.push_back(sequence);
  }
  if (compacted_ > 0) {
    return damaged(
        fmt::format("no snapshot is sound, and records up to {} were compacted away", compacted_));
  }
  return snapshot;
}

Result<Compaction> Store::compact(int keep, std::int64_t most) {
  if (keep < 1 || most < 1) {
    return invalid(
        fmt::format("compaction keeps at least 1 snapshot and deletes at least 1 record "
                    "at a time, not {} and {}",
                    keep, most));
  }
  TRY_ASSIGN(const std::vector<std::int64_t> sequences, snapshot_sequences());
  std::vector<std::int64_t> useless;
  std::int64_t covered = compacted_;
  int sound = 0;
  for (const std::int64_t sequence : sequences) {
    if (sound == keep) {
      useless.push_back(sequence);
      continue;
    }
    TRY_ASSIGN(const std::optional<std::string> bytes, snapshot_bytes(sequence));
    if (!bytes) {
      useless.push_back(sequence);
    } else if (++sound == keep) {
      covered = sequence;
    }
  }
  if (sound < keep) return Compaction{};
  const std::int64_t deleted = std::min(covered - compacted_, most);
  const std::int64_t through = compacted_ + deleted;
  if (deleted == 0 && useless.empty()) return Compaction{};
  TRY_ASSIGN(const std::uint32_t before, checksum_before(through + 1));
  const auto delete_all = [&]() -> Status {
    TRY(database_.run(fmt::format("UPDATE chain SET before={}", before)));
    TRY(database_.run(fmt::format("DELETE FROM record WHERE sequence<={}", through)));
    TRY(database_.run(fmt::format("UPDATE compaction SET through={}", through)));
    for (const std::int64_t sequence : useless) {
      TRY(database_.run(fmt::format("DELETE FROM snapshot WHERE sequence={}", sequence)));
    }
    return {};
  };
  TRY(write(delete_all));
  compacted_ = through;
  crc_before_ = before;
  TRY(write([&] { return database_.run("PRAGMA incremental_vacuum"); }));
  TRY(database_.checkpoint());
  TRY(database_.reserve_log(log_bytes_));
  return Compaction{.deleted = deleted, .left = covered - through};
}

}  // namespace orrery
