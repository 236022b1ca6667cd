#include "commands/parse_words.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "commands/number_checks.h"

namespace orrery {
namespace {

class ParseWords : public testing::Test {
 protected:
  ParseWords() {
    CLI::App* run = app_.add_subcommand("simulate", "run policies");
    run->add_option("--trace", trace_)->required();
    run->add_option("--error", error_)->check(number_between(0, 0.9));
    run->add_option("--seed", seed_)->check(count());
    run->add_option("--threads", threads_);
    run->add_option("--scale", scale_);
    app_.add_subcommand("twin", "training")->add_subcommand("fit", "how a model learns");
    app_.require_subcommand(1);
  }

  // The exit code, or -1 if the command is to run.
  int parse(std::vector<std::string> texts) {
    texts.insert(texts.begin(), "orrery");
    std::vector<char*> words;
    for (std::string& text : texts) words.push_back(text.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = parse_words(app_, words).value_or(-1);
    printed_ = testing::internal::GetCapturedStdout();
    problem_ = testing::internal::GetCapturedStderr();
    return code;
  }
  bool names(const char* text) const { return problem_.find(text) != std::string::npos; }

  CLI::App app_{"test"};
  std::string trace_, printed_, problem_;
  double error_ = 0;
  std::uint64_t seed_ = 0;
  int threads_ = 0;
  double scale_ = 0;
};

TEST_F(ParseWords, AGoodCallRuns) {
  EXPECT_EQ(parse({"simulate", "--trace", "t.csv", "--error", "0.5"}), -1);
  EXPECT_EQ(trace_, "t.csv");
  EXPECT_EQ(error_, 0.5);
  EXPECT_EQ(problem_, "");
}

TEST_F(ParseWords, HelpIsNoMistake) {
  EXPECT_EQ(parse({"simulate", "--help"}), 0);
  EXPECT_NE(printed_.find("--trace"), std::string::npos);
}

TEST_F(ParseWords, AnUnknownCommandNamesTheNearest) {
  EXPECT_EQ(parse({"simulat"}), 2);
  EXPECT_TRUE(names("did you mean simulate?"));
  EXPECT_EQ(parse({}), 2);
  EXPECT_TRUE(names("say what to do: there are simulate, twin"));
}

TEST_F(ParseWords, AnUnknownOptionIsNamedBeforeAMissingOne) {
  EXPECT_EQ(parse({"simulate", "--trase", "t.csv"}), 2);
  EXPECT_TRUE(names("--trase: there is no such option; did you mean --trace?"));
  EXPECT_FALSE(names("required"));
  EXPECT_TRUE(names("Try 'orrery simulate --help'"));
}

TEST_F(ParseWords, NumbersAreFiniteAndInTheirRange) {
  for (const char* error : {"nan", "inf", "-0.1", "0.91", "x", "0.5x", ""}) {
    EXPECT_EQ(parse({"simulate", "--trace", "t", "--error", error}), 2) << error;
  }
  for (const char* seed : {"-1", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(parse({"simulate", "--trace", "t", "--seed", seed}), 2) << seed;
  }
}

TEST_F(ParseWords, AValueThatCannotBeReadIsNamedWithItsOption) {
  for (const char* text : {"x", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(parse({"simulate", "--trace", "t", "--threads", text}), 2) << text;
    const std::string says = std::string("--threads: '") + text + "' is no whole number";
    EXPECT_TRUE(names(says.c_str())) << problem_;
  }
  EXPECT_EQ(parse({"simulate", "--trace", "t", "--scale", "x"}), 2);
  EXPECT_TRUE(names("--scale: 'x' is no number")) << problem_;
}

TEST_F(ParseWords, HelpOfACommandInACommand) {
  const std::vector<std::string> fit = {"twin", "fit"};
  EXPECT_NE(help_text(app_, fit).value().find("orrery twin fit"), std::string::npos);
  const std::vector<std::string> wrong = {"twin", "fitt"};
  EXPECT_NE(help_text(app_, wrong).error().message.find("did you mean fit?"), std::string::npos);
  const std::vector<std::string> deep = {"simulate", "now"};
  EXPECT_EQ(help_text(app_, deep).error().message, "orrery simulate has no commands of its own");
}

}  // namespace
}  // namespace orrery
