#include "training/step_trace/step_trace_text.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

const std::string kHeader =
    "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n";
const std::string kRow = "1,2,6,16,backward-compute,2.5,0.75,3,0,4,2\n";

std::string error_of(const std::string& text) {
  const auto trace = parse_step_trace("t.csv", text);
  return trace.ok() ? "" : trace.error().message;
}

TEST(StepTraceText, EachColumnGoesToItsField) {
  const auto trace = parse_step_trace("t.csv", kHeader + kRow);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace.value().operations.size(), 1u);
  const StepOperation& read = trace.value().operations[0];
  EXPECT_EQ(read.worker, 1);
  EXPECT_EQ(read.stage, 2);
  EXPECT_EQ(read.rank, 6);
  EXPECT_EQ(read.step, 16);
  EXPECT_EQ(read.kind, OperationKind::BackwardCompute);
  EXPECT_EQ(read.start_s, 2.5);
  EXPECT_EQ(read.duration_s, 0.75);
  EXPECT_EQ(read.sequence, 3);
  EXPECT_EQ(read.chunk, 0);
  EXPECT_EQ(read.microbatch, 4);
  EXPECT_EQ(read.global_chunk, 2);
}

TEST(StepTraceText, ColumnsMayStandInAnyOrderBesideOthers) {
  const auto trace = parse_step_trace(
      "t.csv",
      "note,gmc,mb_id,mc,seq_id,duration,start_ts,optype,step,rank,stage,dp_rank\r\n"
      "x,2,4,,3,0.75,2.5,gc,16,6,2,1\r\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().operations[0].worker, 1);
  EXPECT_EQ(trace.value().operations[0].chunk, -1);
  EXPECT_EQ(trace.value().operations[0].global_chunk, 2);
}

TEST(StepTraceText, WhatIsWrittenIsReadAgain) {
  const StepOperation operation{.step = 7,
                                .worker = 2,
                                .rank = 2,
                                .kind = OperationKind::GradientSend,
                                .sequence = 1,
                                .start_s = 0.1,
                                .duration_s = 1.0 / 3};
  fmt::memory_buffer out;
  append_step_operation(out, operation);
  const auto trace = parse_step_trace("t.csv", step_trace_header() + fmt::to_string(out));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const StepOperation& read = trace.value().operations[0];
  EXPECT_EQ(read.kind, operation.kind);
  EXPECT_EQ(read.start_s, operation.start_s);
  EXPECT_EQ(read.duration_s, operation.duration_s);
  EXPECT_EQ(read.sequence, operation.sequence);
}

TEST(StepTraceText, ALineThatIsCutOffIsNamed) {
  EXPECT_EQ(error_of(kHeader + kRow + "1,2,6,16,backward"),
            "t.csv:3: has 5 fields where the header has 11; is the file cut off here?");
}

TEST(StepTraceText, AnUnknownOperationIsNamedWithTheKnownOnes) {
  const std::string error = error_of(kHeader + "1,2,6,16,backward-magic,2.5,0.75,3,0,4,2\n");
  EXPECT_TRUE(error.starts_with("t.csv:2: unknown operation 'backward-magic'; the operations are "))
      << error;
  EXPECT_NE(error.find("backward-compute"), std::string::npos);
}

TEST(StepTraceText, TimesAreFiniteAndDurationsNotNegative) {
  EXPECT_EQ(error_of(kHeader + "1,2,6,16,gc,nan,0.75,3,0,4,2\n"),
            "t.csv:2: start_ts is 'nan'; write seconds as a number");
  EXPECT_EQ(error_of(kHeader + "1,2,6,16,gc,1,inf,3,0,4,2\n"),
            "t.csv:2: duration is 'inf'; write seconds as a number");
  EXPECT_EQ(error_of(kHeader + "1,2,6,16,gc,1,-3,3,0,4,2\n"),
            "t.csv:2: duration is -3; write seconds, 0 or more");
}

TEST(StepTraceText, WholeNumbersAreInTheirRange) {
  EXPECT_EQ(error_of(kHeader + "-1,2,6,16,gc,1,1,3,0,4,2\n"),
            "t.csv:2: dp_rank is '-1'; write a whole number from 0 to 1000000");
  EXPECT_EQ(error_of(kHeader + "1,2,6,16,gc,1,1,3.5,0,4,2\n"),
            "t.csv:2: seq_id is '3.5'; write a whole number from 0 to 2147483647");
}

TEST(StepTraceText, AFileWithoutStepsOrColumnsIsRefused) {
  EXPECT_TRUE(error_of("").starts_with("t.csv: is empty"));
  EXPECT_EQ(error_of(kHeader), "t.csv:1: holds no step; record at least one");
  EXPECT_TRUE(error_of("dp_rank,stage\n").starts_with("t.csv:1: has no column rank;"));
  EXPECT_EQ(error_of("step,step\n"), "t.csv:1: column step stands there twice; remove one");
}

}  // namespace
}  // namespace orrery
