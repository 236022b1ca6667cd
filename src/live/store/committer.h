#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "live/store/store.h"

namespace orrery {

// What a record became part of: the records of one transaction, and whether it is on disk.
class Batch;

// A record on its way to disk. May be copied, waited for by many, and outlive its Committer.
class Ticket {
 public:
  std::int64_t sequence() const { return sequence_; }
  bool ready() const;
  // Returns once the record is on disk, or with the reason why it may not be.
  Status wait() const;

 private:
  friend class Committer;
  Ticket(std::int64_t sequence, std::shared_ptr<Batch> batch)
      : sequence_(sequence), batch_(std::move(batch)) {}

  std::int64_t sequence_;
  std::shared_ptr<Batch> batch_;
};

struct CommitterOptions {
  // How much may wait for the commit that is under way; more is refused.
  std::size_t records_waiting_max = 65536;
  std::size_t bytes_waiting_max = std::size_t{256} << 20;
  // Called after each commit, on the writer's thread, with the last record on disk. Must not wait
  // for this Committer.
  std::function<void(std::int64_t sequence)> on_commit{};
  // Called once, likewise, when a commit has failed.
  std::function<void(const Error& error)> on_failure{};
};

// Lets many threads append to one store. A thread of its own commits; records that arrive while a
// commit is under way go into the next one together, so a hundred threads cost few more waits for
// the disk than one. Every function may be called from any thread.
//
// Sequences are given in the order of arrival. After a failed commit every record that waits and
// every later one gets its error; nothing is acknowledged that is not on disk. To go on, open the
// store again.
class Committer {
 public:
  explicit Committer(Store store, CommitterOptions options = {});
  ~Committer();  // as close()
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // Never waits. The record's own sequence is not looked at. ResourceExhausted: too much waits
  // already, so try again later.
  Result<Ticket> append(Record record);
  // Several that follow each other; the ticket is the last one's. There is at least one.
  Result<Ticket> append(std::vector<Record> records);

  // Runs `task` on the writer's thread between two commits, and returns what it does: the way to
  // read, to put a snapshot and to compact. Commits wait meanwhile, so long work comes in pieces.
  Status with_store(const std::function<Status(Store&)>& task);

  // Takes no more records, commits those that wait and closes the store. Returns the first failure
  // of any commit.
  Status close();

 private:
  struct Task;

  void run();
  void commit(std::unique_lock<std::mutex>& lock);
  void work_off(std::unique_lock<std::mutex>& lock);

  const CommitterOptions options_;
  std::optional<Store> store_;  // the writer's alone until it has ended
  std::mutex mutex_;            // guards what follows
  std::condition_variable work_;
  std::shared_ptr<Batch> waiting_;  // nothing: no record waits
  std::size_t bytes_waiting_ = 0;
  std::deque<Task*> tasks_;
  std::int64_t next_;
  std::optional<Error> failed_;
  bool closing_ = false;
  std::mutex closed_;  // one close() at a time
  std::thread writer_;
  std::thread::id writer_id_;  // join() takes it from the thread
};

}  // namespace orrery
