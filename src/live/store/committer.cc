#include "live/store/committer.h"

#include <fmt/format.h>

#include <utility>

namespace orrery {

class Batch {
 public:
  // Filled under the Committer's mutex, then the writer's alone.
  std::vector<Record> records;

  void finish(const Status& status) {
    {
      const std::lock_guard lock(mutex_);
      status_ = status;
    }
    done_.notify_all();
  }

  bool ready() {
    const std::lock_guard lock(mutex_);
    return status_.has_value();
  }

  Status wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return status_.has_value(); });
    return *status_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  std::optional<Status> status_;
};

bool Ticket::ready() const { return batch_->ready(); }
Status Ticket::wait() const { return batch_->wait(); }

// Lives on the stack of the thread that waits for it.
struct Committer::Task {
  const std::function<Status(Store&)>& work;
  std::optional<Status> status{};
  std::condition_variable done{};
};

Committer::Committer(Store store, CommitterOptions options)
    : options_(std::move(options)), store_(std::move(store)), next_(store_->last() + 1) {
  writer_ = std::thread([this] { run(); });
  writer_id_ = writer_.get_id();
}

Committer::~Committer() {
  // A caller that needs the outcome has called close(), or waits for tickets.
  const Status status = close();
  static_cast<void>(status);
}

Result<Ticket> Committer::append(Record record) {
  std::vector<Record> records;
  records.push_back(std::move(record));
  return append(std::move(records));
}

Result<Ticket> Committer::append(std::vector<Record> records) {
  INVARIANT(!records.empty(), "something is appended");
  std::size_t bytes = 0;
  for (const Record& record : records) {
    TRY(check(record));
    bytes += record.kind.size() + record.body.size();
  }
  std::unique_lock lock(mutex_);
  if (failed_) return *failed_;
  if (closing_) return Error{Code::FailedPrecondition, "the store is closed"};
  if (waiting_ != nullptr &&
      (waiting_->records.size() + records.size() > options_.records_waiting_max ||
       bytes_waiting_ + bytes > options_.bytes_waiting_max)) {
    return Error{Code::ResourceExhausted,
                 fmt::format("{} records of {} bytes wait for the disk, and no more may: try again "
                             "in a moment",
                             waiting_->records.size(), bytes_waiting_)};
  }
  const bool wake = waiting_ == nullptr;
  if (wake) waiting_ = std::make_shared<Batch>();
  bytes_waiting_ += bytes;
  for (Record& record : records) {
    record.sequence = next_++;
    waiting_->records.push_back(std::move(record));
  }
  Ticket ticket(next_ - 1, waiting_);
  lock.unlock();
  if (wake) work_.notify_one();
  return ticket;
}

Status Committer::with_store(const std::function<Status(Store&)>& task) {
  INVARIANT(std::this_thread::get_id() != writer_id_, "the writer cannot wait for itself");
  Task mine{.work = task};
  std::unique_lock lock(mutex_);
  if (closing_) return Error{Code::FailedPrecondition, "the store is closed"};
  tasks_.push_back(&mine);
  work_.notify_one();
  mine.done.wait(lock, [&] { return mine.status.has_value(); });
  return *std::move(mine.status);
}

Status Committer::close() {
  const std::lock_guard one_at_a_time(closed_);
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  work_.notify_one();
  if (writer_.joinable()) writer_.join();
  store_.reset();
  if (failed_) return *failed_;
  return {};
}

void Committer::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [&] { return closing_ || waiting_ != nullptr || !tasks_.empty(); });
    // One of each: neither can keep the other waiting for ever.
    if (waiting_ != nullptr) commit(lock);
    if (!tasks_.empty()) work_off(lock);
    if (closing_ && waiting_ == nullptr && tasks_.empty()) return;
  }
}

void Committer::commit(std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<Batch> batch = std::exchange(waiting_, nullptr);
  bytes_waiting_ = 0;
  lock.unlock();
  const Status status = store_->append(batch->records);
  const std::int64_t last = batch->records.back().sequence;
  std::vector<Record>().swap(batch->records);
  if (!status.ok()) {
    // Those that came meanwhile have numbers that follow on what is not there.
    lock.lock();
    failed_ = status.error();
    const std::shared_ptr<Batch> lost = std::exchange(waiting_, nullptr);
    lock.unlock();
    if (lost != nullptr) lost->finish(status);
  }
  batch->finish(status);
  if (status.ok() && options_.on_commit) options_.on_commit(last);
  if (!status.ok() && options_.on_failure) options_.on_failure(status.error());
  lock.lock();
}

void Committer::work_off(std::unique_lock<std::mutex>& lock) {
  Task& task = *tasks_.front();
  tasks_.pop_front();
  lock.unlock();
  Status status = task.work(*store_);
  lock.lock();
  // Set under the lock: the task ends as soon as its owner sees the status.
  task.status = std::move(status);
  task.done.notify_one();
}

}  // namespace orrery
