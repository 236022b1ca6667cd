#include "cloud/ledger/cost_ledger.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/test_folder.h"
#include "cloud/ledger/ledger_schema.h"
#include "cloud/ledger/test_ledger.h"

namespace orrery {
namespace {

using Kind = ServerEvent::Kind;

LedgerServer only_server(CostLedger& ledger) {
  auto rows = ledger.servers();
  EXPECT_TRUE(rows.ok() && rows.value().size() == 1);
  return rows.value().at(0);
}

TEST(CostLedger, AServerIsBilledFromItsRequestToItsEnd) {
  const TestFolder folder;
  CostLedger ledger = opened_ledger(folder / "ledger.db");
  ASSERT_TRUE(ledger.add_server(spot_worker("job", 1), 0.72).ok());
  ASSERT_TRUE(ledger.record(ledger_event(1, Kind::Requested, "job-worker-1", 0)).ok());
  EXPECT_EQ(only_server(ledger).usd, 0);
  ASSERT_TRUE(ledger.record(ledger_event(2, Kind::Running, "job-worker-1", 80), "10.0.0.7").ok());
  EXPECT_NEAR(only_server(ledger).usd, 80 * 0.0001, 1e-12);
  ServerEvent end = ledger_event(3, Kind::Revoked, "job-worker-1", 5000.25);
  end.detail = "compute.instances.preempted";
  ASSERT_TRUE(ledger.record(end).ok());

  const LedgerServer row = only_server(ledger);
  EXPECT_NEAR(row.usd, 0.500025, 1e-12);
  EXPECT_EQ(row.billed_s, 5000.25);
  EXPECT_NEAR(row.on_demand_usd_per_s.value_or(0), 0.0002, 1e-15);
  EXPECT_EQ(row.server.address, "10.0.0.7");
  EXPECT_EQ(row.server.end_reason, EndReason::Revoked);
  EXPECT_EQ(row.server.running, february(80));
  EXPECT_EQ(row.server.ended, february(5000.25));
  EXPECT_EQ(row.end_detail, "compute.instances.preempted");
}

TEST(CostLedger, AnEventThatIsThereAlreadyChangesNothing) {
  const TestFolder folder;
  CostLedger ledger = opened_ledger(folder / "ledger.db");
  ASSERT_TRUE(ledger.add_server(spot_worker("job", 1), {}).ok());
  const ServerEvent requested = ledger_event(1, Kind::Requested, "job-worker-1", 0);
  ASSERT_TRUE(ledger.record(requested).ok());
  ASSERT_TRUE(ledger.record(ledger_event(2, Kind::Running, "job-worker-1", 80)).ok());
  ASSERT_TRUE(ledger.record(requested).ok());
  EXPECT_EQ(only_server(ledger).server.state, ServerState::Running);
  EXPECT_EQ(ledger.last_sequence().value(), 2);
}

TEST(CostLedger, AnEventThatCannotFollowIsRefusedAndLeavesNothing) {
  const TestFolder folder;
  CostLedger ledger = opened_ledger(folder / "ledger.db");
  ASSERT_TRUE(ledger.add_server(spot_worker("job", 1), {}).ok());
  ASSERT_TRUE(ledger.record(ledger_event(1, Kind::Requested, "job-worker-1", 0)).ok());
  ASSERT_TRUE(ledger.record(ledger_event(2, Kind::Revoked, "job-worker-1", 10)).ok());
  EXPECT_FALSE(ledger.record(ledger_event(3, Kind::Running, "job-worker-1", 20)).ok());
  EXPECT_EQ(ledger.last_sequence().value(), 2);
  EXPECT_EQ(ledger.record(ledger_event(3, Kind::Running, "other", 20)).error().code,
            Code::NotFound);
}

TEST(CostLedger, ANameIsNeverUsedTwice) {
  const TestFolder folder;
  CostLedger ledger = opened_ledger(folder / "ledger.db");
  ASSERT_TRUE(ledger.add_server(spot_worker("job", 1), {}).ok());
  EXPECT_EQ(ledger.add_server(spot_worker("job", 1), {}).error().code, Code::AlreadyExists);
  ASSERT_TRUE(ledger.start_job({.name = "job", .started = february(0)}).ok());
  EXPECT_EQ(ledger.start_job({.name = "job", .started = february(0)}).error().code,
            Code::AlreadyExists);
}

TEST(CostLedger, KeepsJobsCheckpointsAndMembership) {
  const TestFolder folder;
  {
    CostLedger ledger = opened_ledger(folder / "ledger.db");
    ASSERT_TRUE(ledger
                    .start_job({.name = "job",
                                .description = "resnet",
                                .steps_target = 64000,
                                .started = february(0)})
                    .ok());
    ASSERT_TRUE(ledger
                    .record(LedgerCheckpoint{.job = "job",
                                             .step = 4000,
                                             .bytes = 1 << 20,
                                             .save = from_seconds(3.5),
                                             .at = february(900),
                                             .sha256 = "ab"})
                    .ok());
    ASSERT_TRUE(
        ledger
            .record(LedgerMembership{
                .job = "job", .epoch = 1, .at = february(1), .workers = 4, .rate_scale = 0.5})
            .ok());
    ASSERT_TRUE(ledger.end_job("job", february(3600), "completed", 64012).ok());
    EXPECT_EQ(ledger.end_job("other", february(1), "failed", 0).error().code, Code::NotFound);
  }
  auto reader = CostLedger::open_to_read(folder / "ledger.db");
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  CostLedger ledger = std::move(reader).value();
  const LedgerJob job = ledger.jobs().value().at(0);
  EXPECT_EQ(job.description, "resnet");
  EXPECT_EQ(job.steps_target, 64000);
  EXPECT_EQ(job.steps, 64012);
  EXPECT_EQ(job.ended, february(3600));
  EXPECT_EQ(job.outcome, "completed");
  const LedgerCheckpoint checkpoint = ledger.checkpoints("job").value().at(0);
  EXPECT_EQ(checkpoint.save, from_seconds(3.5));
  EXPECT_EQ(checkpoint.sha256, "ab");
  EXPECT_EQ(ledger.memberships("job").value().at(0).rate_scale, 0.5);
}

TEST(CostLedger, IsReadByAnotherConnectionWhileItIsWritten) {
  const TestFolder folder;
  CostLedger ledger = opened_ledger(folder / "ledger.db");
  ASSERT_TRUE(ledger.add_server(spot_worker("job", 1), {}).ok());
  auto reader = CostLedger::open_to_read(folder / "ledger.db");
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  CostLedger reading = std::move(reader).value();
  EXPECT_EQ(reading.servers().value().size(), 1U);
  ASSERT_TRUE(ledger.add_server(spot_worker("job", 2), {}).ok());
  EXPECT_EQ(reading.servers("job").value().size(), 2U);
  EXPECT_EQ(reading.servers("other").value().size(), 0U);
}

TEST(CostLedger, IsForItsOwnerOnly) {
  const TestFolder folder;
  CostLedger ledger = opened_ledger(folder / "ledger.db");
  ASSERT_TRUE(ledger.add_server(spot_worker("job", 1), {}).ok());
  for (const char* name : {"ledger.db", "ledger.db-wal"}) {
    struct stat file {};
    ASSERT_EQ(::stat((folder / name).c_str(), &file), 0) << name;
    EXPECT_EQ(file.st_mode & 0777, 0600U) << name;
  }
}

TEST(CostLedger, AnotherVersionIsRefusedAndLeftAsItIs) {
  const TestFolder folder;
  const std::string path = folder / "ledger.db";
  { opened_ledger(path); }
  {
    auto database = Database::open(path, "");
    ASSERT_TRUE(database.ok());
    Database raw = std::move(database).value();
    ASSERT_TRUE(raw.run("PRAGMA user_version=7").ok());
  }
  const auto again = CostLedger::open(path);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::FailedPrecondition);
  EXPECT_EQ(again.error().message,
            path +
                ": is a ledger of version 7; this Orrery reads version 1. Read it with the "
                "Orrery that wrote it");
  EXPECT_EQ(CostLedger::open_to_read(path).error().message, again.error().message);
}

TEST(CostLedger, OtherFilesAreRefused) {
  const TestFolder folder;
  const std::string other = folder / "other.db";
  {
    auto database = Database::open(other, "");
    ASSERT_TRUE(database.ok());
    Database raw = std::move(database).value();
    ASSERT_TRUE(raw.run("CREATE TABLE cluster_status(host_name TEXT)").ok());
  }
  EXPECT_EQ(CostLedger::open(other).error().message,
            other +
                ": is a published database of one table; import it into a ledger: orrery "
                "transient ledger NEW.db --import FILE");
  const std::string empty = folder.write("empty.db", "");
  EXPECT_EQ(CostLedger::open_to_read(empty).error().message,
            empty + ": is empty, and no ledger yet");
  const std::string text = folder.write("text.db", std::string(5000, 'x'));
  EXPECT_EQ(CostLedger::open(text).error().code, Code::InvalidArgument);
  EXPECT_EQ(CostLedger::open_to_read(folder / "nowhere.db").error().code, Code::NotFound);
}

// The texts of the published table.
TEST(CostLedger, TheViewShowsThePublishedColumns) {
  const TestFolder folder;
  const std::string path = folder / "ledger.db";
  {
    CostLedger ledger = opened_ledger(path);
    const auto add = [&](int index, const char* role) {
      ServerSpec spec = spot_worker("job", index);
      spec.role = role;
      EXPECT_TRUE(ledger.add_server(spec, {}).ok());
      EXPECT_TRUE(
          ledger.record(ledger_event(index * 10 + 1, Kind::Requested, spec.name, 0.25)).ok());
    };
    const auto end = [&](int index, Kind kind, EndReason reason) {
      const std::string name = "job-worker-" + std::to_string(index);
      if (reason != EndReason::StockOut) {
        EXPECT_TRUE(ledger.record(ledger_event(index * 10 + 2, Kind::Running, name, 60)).ok());
      }
      ServerEvent event = ledger_event(index * 10 + 3, kind, name, 100.5);
      event.reason = reason;
      EXPECT_TRUE(ledger.record(event).ok());
    };
    add(0, "chief"), add(1, "worker"), add(2, "worker"), add(3, "worker"), add(4, "ps");
    add(5, "worker"), add(6, "worker");
    end(0, Kind::Revoked, EndReason::Revoked);
    end(1, Kind::Revoked, EndReason::Revoked);
    end(2, Kind::Stopped, EndReason::ClusterStop);
    end(3, Kind::Stopped, EndReason::Completed);
    end(5, Kind::Failed, EndReason::StockOut);
  }
  auto database = Database::open_to_follow(path);
  ASSERT_TRUE(database.ok());
  Database raw = std::move(database).value();
  const auto text = raw.text(
      "SELECT group_concat(concat,';') FROM (SELECT host_name||','||region||','||job_name||','||"
      "status||','||creation_time||','||coalesce(termination_time,'-')||','||role||','||"
      "coalesce(revoked,'-') AS concat FROM cluster_status ORDER BY host_name)");
  ASSERT_TRUE(text.ok()) << text.error().message;
  const std::string start =
      ",us-west1-b,job,TERMINATED,2019-02-16 00:00:00.250000,"
      "2019-02-16 00:01:40.500000,";
  EXPECT_EQ(text.value(), "job-worker-0" + start +
                              "master,Manually stopped due to revoked master;" + "job-worker-1" +
                              start + "workers,Revoked;" + "job-worker-2" + start +
                              "workers,Manually stopped due to revoked "
                              "master;" +
                              "job-worker-3" + start + "workers,Job completed;" +
                              "job-worker-6,us-west1-b,job,PROVISIONING,2019-02-16 "
                              "00:00:00.250000,-,workers,-");
}

}  // namespace
}  // namespace orrery
