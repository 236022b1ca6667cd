#include "report/terminal/words.h"

#include <gtest/gtest.h>

#include "report/terminal/standard_output.h"

namespace orrery {
namespace {

int code_of(const Status& status) {
  testing::internal::CaptureStderr();
  const int code = exit_code(status);
  const std::string said = testing::internal::GetCapturedStderr();
  const bool fails = !status.ok() && code != 0;
  EXPECT_EQ(said, fails ? "orrery: " + status.error().message + "\n" : "");
  return code;
}

TEST(ExitCode, IsTwoForAWrongCallAndOneForWorkThatFailed) {
  EXPECT_EQ(code_of({}), 0);
  EXPECT_EQ(code_of(invalid("write a number")), 2);
  EXPECT_EQ(code_of(Error{Code::FailedPrecondition, "the replay differs"}), 1);
  EXPECT_EQ(code_of(Error{Code::Cancelled, "interrupted"}), 1);
}

TEST(ExitCode, AReaderThatHasGoneIsNoFailure) { EXPECT_EQ(code_of(reader_gone()), 0); }

TEST(SplitProgram, OnlyCommandsThatTakeAProgramHaveOne) {
  std::vector<std::string> texts = {"orrery", "submit", "--gpus", "1", "--", "train", "--", "x"};
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  const std::vector<std::string> takers = {"submit"};
  std::vector<std::string> program;
  EXPECT_EQ(split_program(words, takers, program).size(), 4U);
  EXPECT_EQ(program, (std::vector<std::string>{"train", "--", "x"}));
  program.clear();
  texts[1] = "status";
  words[1] = texts[1].data();
  EXPECT_EQ(split_program(words, takers, program).size(), 8U);
  EXPECT_TRUE(program.empty());
}

}  // namespace
}  // namespace orrery
