#include "live/store/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "live/store/schema.h"

namespace orrery {
namespace {

std::string span_text(std::int64_t from, std::int64_t to) {
  return from == to ? fmt::format("record {} is missing", from)
                    : fmt::format("records {} to {} are missing", from, to);
}

void take_row(const Statement& row, Record& record) {
  record.sequence = row.number(0);
  record.time = Time(Duration(row.number(1)));
  record.kind = row.bytes(2);
  record.job = row.is_nothing(3) ? kNoJobNumber : row.number(3);
  record.body = row.bytes(4);
}

}  // namespace

Store::Store(Database database, Statement insert, std::size_t log_bytes)
    : database_(std::move(database)), insert_(std::move(insert)), log_bytes_(log_bytes) {}

Result<Store> Store::open(const std::string& path, const StoreOptions& options) {
  TRY_ASSIGN(Database database, Database::open(path, options.disk));
  std::optional<MarkWord> word;
  if (options.keeps_mark) {
    TRY_ASSIGN(word, Mark::read(mark_path(path)));
  }
  TRY(prepare_file(database, schema_steps(), [&](bool is_new) -> Status {
    return word ? check_mark(database, *word, is_new) : Status();
  }));
  TRY(database.checkpoint());
  TRY(database.reserve_log(options.log_bytes));
  TRY_ASSIGN(Statement insert, database.prepare("INSERT INTO record VALUES(?,?,?,?,?,?)"));
  Store store(std::move(database), std::move(insert), options.log_bytes);
  TRY(store.load());
  if (options.keeps_mark) {
    TRY_ASSIGN(store.mark_, Mark::open(mark_path(path)));
    store.job_ = std::max(store.job_, word ? word->job : 0);
  }
  return store;
}

Status Store::check_mark(Database& database, const MarkWord& word, bool is_new) {
  if (word.sequence == 0) return {};
  const auto refuse = [&](const std::string& what) {
    database.leave_log();
    return Error{
        Code::DataLoss,
        fmt::format("{}: {}. Put back a backup: `orrery restore --state DIR BACKUP`; or go "
                    "on with what there is: `orrery restore --state DIR --as-is`",
                    database.path(), what)};
  };
  if (is_new) {
    return refuse(fmt::format("is empty or was missing, but records up to {} were acknowledged",
                              word.sequence));
  }
  TRY_ASSIGN(const std::int64_t last,
             database.number("SELECT max((SELECT coalesce(max(sequence),0) FROM record),"
                             "(SELECT through FROM compaction))"));
  if (last < word.sequence) {
    return refuse(fmt::format("{}, although {} acknowledged; is {}-wal damaged?",
                              span_text(last + 1, word.sequence),
                              last + 1 == word.sequence ? "it was" : "they were", database.path()));
  }
  TRY_ASSIGN(const std::int64_t crc,
             database.number(fmt::format("SELECT coalesce((SELECT crc FROM record WHERE "
                                         "sequence={}),{})",
                                         word.sequence, word.crc)));
  if (crc == static_cast<std::int64_t>(word.crc)) return {};
  return refuse(
      fmt::format("record {} is not the one that was acknowledged: this is another log, "
                  "or an old copy that went on",
                  word.sequence));
}

Status Store::load() {
  TRY_ASSIGN(compacted_, database_.number("SELECT through FROM compaction"));
  TRY_ASSIGN(const std::int64_t least,
             database_.number("SELECT coalesce(min(sequence),0) FROM record"));
  TRY_ASSIGN(const std::int64_t most,
             database_.number("SELECT coalesce(max(sequence),0) FROM record"));
  TRY_ASSIGN(const std::int64_t covered,
             database_.number("SELECT coalesce(max(sequence),0) FROM snapshot"));
  last_ = most == 0 ? compacted_ : most;
  TRY_ASSIGN(chained_from_, database_.number("SELECT since FROM chain"));
  TRY_ASSIGN(const std::int64_t before, database_.number("SELECT before FROM chain"));
  crc_before_ = static_cast<std::uint32_t>(before);
  TRY_ASSIGN(crc_last_, checksum_before(last_ + 1));
  if (compacted_ < 0 || least < 0) return damaged("a sequence is below 0");
  if (least != 0 && least <= compacted_) {
    return damaged(fmt::format("record {} is there although it was compacted away", least));
  }
  if (least > first()) return damaged(span_text(first(), least - 1));
  if (covered > last_) return damaged(span_text(last_ + 1, covered));
  return {};
}

Result<std::uint32_t> Store::checksum_before(std::int64_t sequence) {
  if (sequence <= first()) return crc_before_;
  TRY_ASSIGN(Statement row, database_.prepare("SELECT crc FROM record WHERE sequence=?"));
  row.bind(1, sequence - 1);
  TRY_ASSIGN(const bool found, row.step());
  if (!found) return damaged(span_text(sequence - 1, sequence - 1));
  return static_cast<std::uint32_t>(row.number(0));
}

Status Store::append(std::span<const Record> records) {
  std::int64_t next = last_;
  for (const Record& record : records) {
    if (record.sequence != ++next) {
      return invalid(fmt::format("{}: record {} does not follow on: the next one is {}", path(),
                                 record.sequence, next));
    }
    TRY(check(record));
  }
  if (records.empty()) return {};
  std::uint32_t crc = crc_last_;
  std::int64_t job = job_;
  const auto insert_all = [&]() -> Status {
    for (const Record& record : records) {
      crc = checksum(record, crc);
      job = std::max(job, record.job);
      TRY(insert(record, crc));
    }
    return {};
  };
  TRY(write(insert_all));
  last_ = next;
  crc_last_ = crc;
  job_ = job;
  if (mark_) return mark_->write({.sequence = last_, .crc = crc_last_, .job = job_});
  return {};
}

Status Store::insert(const Record& record, std::uint32_t crc) {
  insert_.bind(1, record.sequence);
  insert_.bind(2, record.time.time_since_epoch().count());
  insert_.bind_text(3, record.kind);
  if (record.job == kNoJobNumber) {
    insert_.bind_nothing(4);
  } else {
    insert_.bind(4, record.job);
  }
  insert_.bind_bytes(5, record.body);
  insert_.bind(6, crc);
  const Result<bool> stepped = insert_.step();
  insert_.reset();
  TRY(stepped);
  return {};
}

Status Store::write(const std::function<Status()>& work) {
  if (failed_) {
    return Error{failed_->code, "an earlier write failed, and the store must be opened again: " +
                                    failed_->message};
  }
  Status done = database_.transaction(work);
  if (!done.ok()) failed_ = done.error();
  return done;
}

Status Store::read(std::int64_t from, const Visit& visit, std::int64_t most) {
  if (from < first()) {
    return Error{Code::NotFound,
                 fmt::format("{}: records before {} were compacted away: begin with the newest "
                             "snapshot, not with record {}",
                             path(), first(), from)};
  }
  if (from > last_ + 1) {
    return invalid(fmt::format("{}: the log ends with record {}: nothing to read from {} on",
                               path(), last_, from));
  }
  // `from` + `most` may be past the end of the numbers.
  const std::int64_t through = most > last_ - from ? last_ : from + most - 1;
  TRY_ASSIGN(Statement rows,
             database_.prepare("SELECT sequence,time_ns,kind,job,body,crc FROM record "
                               "WHERE sequence BETWEEN ? AND ? ORDER BY sequence"));
  rows.bind(1, from);
  rows.bind(2, through);
  TRY_ASSIGN(std::uint32_t before, checksum_before(from));
  Record record;
  std::int64_t next = from;
  while (next <= through) {
    Result<bool> found = rows.step();
    if (!found.ok()) return std::move(found).error().at(fmt::format("record {}", next));
    if (!found.value()) return damaged(span_text(next, through));
    take_row(rows, record);
    if (record.sequence != next) return damaged(span_text(next, record.sequence - 1));
    const std::uint32_t crc = next < chained_from_ ? checksum(record) : checksum(record, before);
    if (rows.number(5) != static_cast<std::int64_t>(crc)) {
      return damaged(fmt::format("record {} does not fit its checksum", next));
    }
    before = crc;
    TRY(visit(record));
    ++next;
  }
  return {};
}

Error Store::damaged(const std::string& what) const {
  return {Code::DataLoss, path() + ": " + what + ": put back a copy of the store"};
}

}  // namespace orrery
