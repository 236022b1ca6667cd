// Events about nodes in the log.
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/test_folder.h"
#include "report/event_log/event_log_reader.h"
#include "report/event_log/event_log_writer.h"
#include "report/event_log/reader_complaint.h"
#include "report/test_run.h"

namespace orrery {
namespace {

using enum EventKind;

TEST(NodeEvents, ComeBackFromALogAsTheyWere) {
  TestRun run(2, 8);
  run.submit(1, 0);
  run.hold(2, 0, Started, {{NodeId{1}, 3}});
  run.change_node(7, NodeWarned, 1);
  run.change_node(7.5, NodeLost, 1);
  Event& lost = run.add(7.5, 0, Paused);
  lost.reason = {.code = Reason::Code::NodeLost, .wanted = 1};
  lost.work_left = 5;
  lost.work_lost = 2.5;
  run.change_node(7.6, NodeBack, 1);
  const TestFolder folder;
  auto writer = EventLogWriter::open(folder.file("a.jsonl"), run.cluster, run.workload);
  ASSERT_TRUE(writer.ok());
  run.send(*writer.value());
  ASSERT_TRUE(writer.value()->finish().ok());
  EXPECT_NE(read_file(folder.file("a.jsonl"))
                .value()
                .find("\n{\"t\":7500000000,\"seq\":3,\"event\":\"node_lost\",\"node\":1}\n"),
            std::string::npos);
  auto opened = EventLogReader::open(folder.file("a.jsonl"));
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EventLogReader reader = std::move(opened).value();
  Event got;
  for (const Event& want : run.events()) {
    const auto more = reader.next(got);
    ASSERT_TRUE(more.ok()) << more.error().message;
    ASSERT_TRUE(more.value());
    EXPECT_EQ(got.kind, want.kind);
    EXPECT_EQ(got.job, want.job);
    EXPECT_EQ(got.node, want.node);
    EXPECT_EQ(got.work_left, want.work_left);
    EXPECT_EQ(got.work_lost, want.work_lost);
  }
  EXPECT_FALSE(reader.next(got).value());
}

TEST(EventLogReader, ANodeIsLostOnceBeforeItIsBack) {
  const auto change = [](const std::string& event, int node) {
    return "{\"t\":6,\"seq\":1,\"event\":\"" + event + "\",\"node\":" + std::to_string(node) +
           "}\n";
  };
  EXPECT_EQ(complaint(change("node_warned", 0) + change("node_lost", 0) + change("node_back", 0)),
            "");
  EXPECT_EQ(complaint(change("node_lost", 1)), "log:2: \"node\" is not a whole number from 0 to 0");
  EXPECT_EQ(complaint(change("node_back", 0)), "log:2: node 0 has node_back although it is there");
  EXPECT_EQ(complaint(change("node_lost", 0) + change("node_warned", 0)),
            "log:3: node 0 has node_warned although it is lost");
  EXPECT_EQ(complaint("{\"t\":6,\"seq\":1,\"event\":\"node_lost\"}\n"),
            "log:2: \"node\" is missing");
}

}  // namespace
}  // namespace orrery
