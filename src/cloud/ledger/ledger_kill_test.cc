// What is left of a ledger when its process is killed in the middle of its events.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <map>
#include <string>

#include "base/random.h"
#include "base/test_folder.h"
#include "cloud/ledger/test_ledger.h"

namespace orrery {
namespace {

using Kind = ServerEvent::Kind;

// Three events for each server, and a server after the other, until it is killed. Reports the
// sequence of each event that is on disk.
[[noreturn]] void write_events(const std::string& path, int out) {
  Result<CostLedger> opened = CostLedger::open(path);
  if (!opened.ok()) _exit(2);
  CostLedger ledger = std::move(opened).value();
  const Result<std::int64_t> last = ledger.last_sequence();
  if (!last.ok()) _exit(3);
  constexpr std::array kKinds = {Kind::Requested, Kind::Running, Kind::Revoked};
  for (std::int64_t sequence = last.value() + 1;; ++sequence) {
    const auto index = static_cast<int>((sequence - 1) / 3);
    const auto step = static_cast<std::size_t>((sequence - 1) % 3);
    const ServerSpec spec = spot_worker("job", index);
    if (step == 0) {
      const Status added = ledger.add_server(spec, {});
      if (!added.ok() && added.error().code != Code::AlreadyExists) _exit(4);
    }
    const double at_s = static_cast<double>(sequence) * 10;
    if (!ledger.record(ledger_event(sequence, kKinds[step], spec.name, at_s)).ok()) _exit(5);
    if (write(out, &sequence, sizeof sequence) != ssize_t{sizeof sequence}) _exit(6);
  }
}

std::int64_t killed_after(const std::string& path, int events) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    write_events(path, ends[1]);
  }
  close(ends[1]);
  std::int64_t acknowledged = 0, sequence = 0;
  int count = 0;
  while (read(ends[0], &sequence, sizeof sequence) == ssize_t{sizeof sequence}) {
    acknowledged = sequence;
    if (++count == events) kill(child, SIGKILL);
  }
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "ended by itself: " << status;
  return acknowledged;
}

TEST(LedgerKill, RowsEventsAndCostsFitTogetherAfterEachKill) {
  const TestFolder folder;
  const std::string path = folder / "ledger.db";
  Random random(20261119);
  for (int attempt = 0; attempt < 10; ++attempt) {
    SCOPED_TRACE("attempt " + std::to_string(attempt));
    const std::int64_t acknowledged = killed_after(path, static_cast<int>(random.between(1, 25)));
    CostLedger ledger = opened_ledger(path);
    const std::int64_t last = ledger.last_sequence().value();
    ASSERT_GE(last, acknowledged);
    std::int64_t events = 0;
    for (const LedgerServer& row : ledger.servers().value()) {
      const auto state = row.server.state;
      const bool began = row.server.requested != kNever;
      events += state == ServerState::Ended ? 3 : state == ServerState::Running ? 2 : began ? 1 : 0;
      EXPECT_NEAR(row.usd, row.billed_s * 0.0001, 1e-12);
      EXPECT_EQ(row.billed_s, state == ServerState::Ended     ? 20
                              : state == ServerState::Running ? 10
                                                              : 0);
    }
    EXPECT_EQ(events, last);
  }
}

}  // namespace
}  // namespace orrery
