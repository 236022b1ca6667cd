// What is left of a burst of appends when the process is killed in the middle of it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <set>
#include <string>
#include <thread>

#include "base/random.h"
#include "live/store/committer.h"
#include "live/store/test_store.h"

namespace orrery {
namespace {

constexpr int kThreads = 4;

struct Acknowledged {
  std::int64_t sequence = 0;
  std::array<char, 24> body{};
};

std::string body_of(int attempt, int thread, int i) {
  return std::to_string(attempt) + "/" + std::to_string(thread) + "/" + std::to_string(i);
}

// Appends until it is killed, and reports each record that is on disk. Ends by itself when its
// reader is gone, or when something fails.
[[noreturn]] void burst(const std::string& path, int attempt, int out) {
  Result<Store> store = Store::open(path);
  if (!store.ok()) _exit(2);
  Committer committer(std::move(store).value());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0;; ++i) {
        const std::string body = body_of(attempt, thread, i);
        const Result<Ticket> ticket = committer.append(test_record(0, body));
        if (!ticket.ok() || !ticket.value().wait().ok()) _exit(3);
        Acknowledged answer{.sequence = ticket.value().sequence()};
        body.copy(answer.body.data(), answer.body.size() - 1);
        if (write(out, &answer, sizeof answer) != ssize_t{sizeof answer}) _exit(4);
        // Snapshots, for the kill to fall into.
        if (thread == 0 && i % 8 == 7) {
          const Status kept = committer.with_store([](Store& held) -> Status {
            TRY(held.put_snapshot(held.last(), std::string(20000, 's')));
            return {};
          });
          if (!kept.ok()) _exit(5);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  _exit(0);
}

// One attempt: kills the child after `kill_after` acknowledgements, and returns all that it gave.
std::vector<Acknowledged> killed_burst(const std::string& path, int attempt,
                                       std::int64_t kill_after) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    burst(path, attempt, ends[1]);
  }
  close(ends[1]);
  std::vector<Acknowledged> acknowledged;
  Acknowledged answer;
  // Writes to a pipe are whole up to PIPE_BUF bytes.
  while (read(ends[0], &answer, sizeof answer) == ssize_t{sizeof answer}) {
    acknowledged.push_back(answer);
    if (std::ssize(acknowledged) == kill_after) kill(child, SIGKILL);
  }
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "ended by itself: " << status;
  return acknowledged;
}

TEST(Kill, LosesNothingThatWasAcknowledgedAndDoublesNothing) {
  const TestFolder folder;
  Random random(20261115);
  std::int64_t total = 0;
  std::int64_t last = 0;
  for (int attempt = 0; attempt < 50; ++attempt) {
    SCOPED_TRACE("attempt " + std::to_string(attempt));
    const std::int64_t kill_after = random.between(1, 60);
    const std::vector<Acknowledged> acknowledged = killed_burst(folder.file(), attempt, kill_after);
    ASSERT_GE(std::ssize(acknowledged), kill_after);
    total += std::ssize(acknowledged);

    Store store = opened(folder.file());
    const std::vector<Record> records = all_records(store);
    ASSERT_EQ(std::ssize(records), store.last());
    std::set<std::string> bodies;
    for (const Record& record : records) {
      EXPECT_TRUE(bodies.insert(record.body).second) << record.body << " is there twice";
    }
    for (const Acknowledged& answer : acknowledged) {
      ASSERT_GT(answer.sequence, last);
      ASSERT_LE(answer.sequence, store.last()) << answer.body.data() << " was lost";
      EXPECT_EQ(records[static_cast<std::size_t>(answer.sequence - 1)].body, answer.body.data());
    }
    EXPECT_TRUE(store.latest_snapshot().ok());
    last = store.last();
  }
  EXPECT_GE(total, 50);
}

}  // namespace
}  // namespace orrery
