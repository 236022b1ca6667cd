#include "experiments/runs/run_texts.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using Texts = std::vector<std::string>;

std::vector<NamedPolicy> parsed(const Texts& policies, const Texts& options = {}) {
  auto named = parse_policies(policies, options);
  EXPECT_TRUE(named.ok()) << named.error().message;
  return named.ok() ? std::move(named).value() : std::vector<NamedPolicy>();
}

std::string problem(const Texts& policies, const Texts& options) {
  const auto named = parse_policies(policies, options);
  return named.ok() ? "" : named.error().message;
}

TEST(ParsePolicies, APolicyHasAnOptionAfterEachColonAndItsTextAsLabel) {
  const auto named = parsed({"las:levels=2:limits=1h", "fifo"});
  ASSERT_EQ(named.size(), 2U);
  EXPECT_EQ(named[0].policy.name, "las");
  EXPECT_EQ(named[0].policy.options.at("levels"), "2");
  EXPECT_EQ(named[0].policy.options.at("limits"), "1h");
  EXPECT_EQ(named[0].label, "las:levels=2:limits=1h");
  EXPECT_EQ(named[1].policy, ChosenPolicy{.name = "fifo"});
}

TEST(ParsePolicies, AnOptionOfTheCallGoesToThePoliciesThatKnowIt) {
  const auto named = parsed({"las", "muri-l:packing=2", "muri-s"}, {"packing=3"});
  EXPECT_TRUE(named[0].policy.options.empty());
  EXPECT_EQ(named[1].policy.options.at("packing"), "2") << "its own value stays";
  EXPECT_EQ(named[2].policy.options.at("packing"), "3");
}

TEST(ParsePolicies, AnOptionThatNoPolicyKnowsIsAnError) {
  EXPECT_EQ(problem({"fifo", "srtf"}, {"packing=3"}),
            "--option packing=3: none of the policies knows 'packing'; see `orrery policies`");
  EXPECT_EQ(problem({"fifo"}, {"packing=3"}), "") << "the policy's own error names its options";
}

TEST(ParsePolicies, AnOptionIsAKeyAndAValue) {
  EXPECT_EQ(problem({"las:levels"}, {}), "option 'levels': write key=value");
  EXPECT_EQ(problem({"las"}, {"=2"}), "option '=2': write key=value");
  EXPECT_EQ(parsed({"las:limits=a=b"})[0].policy.options.at("limits"), "a=b");
  EXPECT_EQ(parsed({"las:limits="})[0].policy.options.at("limits"), "");
}

TEST(ParseRound, IsADurationOrNothing) {
  EXPECT_EQ(parse_round("").value(), Duration());
  EXPECT_EQ(parse_round("5m").value(), std::chrono::minutes(5));
  EXPECT_TRUE(parse_round("often").error().message.starts_with("--round"));
}

TEST(ParseWindow, HoldsTheFirstAndNotTheLast) {
  EXPECT_EQ(parse_window("").value(), std::nullopt);
  EXPECT_EQ(parse_window("1000-2000").value(), (JobWindow{JobId{1000}, JobId{2000}}));
  for (const char* text : {"5", "5-", "-5", "5-5", "6-5", "1-2x", "a-b", "1-99999999999"}) {
    EXPECT_FALSE(parse_window(text).ok()) << text;
  }
}

}  // namespace
}  // namespace orrery
