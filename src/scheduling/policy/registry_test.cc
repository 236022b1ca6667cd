#include "scheduling/policy/registry.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "scheduling/policy/order/services.h"
#include "scheduling/policy/published/published.h"

namespace orrery {
namespace {

using Given = std::map<std::string, std::string>;

const std::vector<const PublishedWorld*> kWorlds = {nullptr, &muri_world(), &elasticflow_world(),
                                                    &synergy_world()};

std::string problem(std::string_view policy, const Given& options) {
  const Workload workload;
  const auto made = make_policy(
      {.workload = workload, .policy = {.name = std::string(policy), .options = options}});
  return made.ok() ? "" : made.error().message;
}

bool says(const std::string& message, std::string_view part) {
  return message.find(part) != std::string::npos;
}

TEST(Registry, AnUnknownPolicySaysWhichThereAre) {
  const std::string message = problem("sjrf", {});
  EXPECT_TRUE(says(message, "'sjrf'")) << message;
  for (const PolicyInfo& info : policies()) EXPECT_TRUE(says(message, info.name)) << message;
}

TEST(Registry, AnUnknownOptionSaysWhichThereAre) {
  const std::string message = problem("las", {{"limit", "1h"}});
  EXPECT_TRUE(says(message, "las")) << message;
  EXPECT_TRUE(says(message, "'limit'")) << message;
  EXPECT_TRUE(says(message, "limits")) << message;
  EXPECT_TRUE(says(message, "placement")) << message;
}

TEST(Registry, MakesEveryPolicyWithTheDefaultsOfEveryWorld) {
  const Workload workload;
  for (const PolicyInfo& info : policies()) {
    for (const PublishedWorld* world : kWorlds) {
      const auto made = make_policy(
          {.workload = workload, .policy = {.name = std::string(info.name)}, .published = world});
      EXPECT_TRUE(made.ok()) << info.name << ": " << made.error().message;
    }
  }
}

TEST(Registry, EveryOptionOfEveryPolicyRefusesNonsenseByName) {
  for (const PolicyInfo& info : policies()) {
    for (const auto table : {info.options, common_options()}) {
      for (const OptionInfo& option : table) {
        const std::string key(option.key);
        const std::string message = problem(info.name, {{key, "-7 bananas"}});
        EXPECT_NE(message, "") << info.name << " takes " << key << "=-7 bananas";
        EXPECT_TRUE(says(message, "-7 bananas")) << message;
      }
    }
  }
}

TEST(Registry, ABadValueNamesTheOptionAndWhatToWrite) {
  EXPECT_EQ(problem("muri-l", {{"packing", "99"}}),
            "option packing=99: expected a number from 1 to 8");
  EXPECT_EQ(problem("muri-l", {{"packing", "2.5"}}), "option packing=2.5: expected a whole number");
  EXPECT_EQ(problem("muri-l", {{"ordering", "bets"}}),
            "option ordering=bets: expected one of best, worst, none");
  EXPECT_EQ(problem("srtf", {{"sticky", "maybe"}}), "option sticky=maybe: expected true or false");
  EXPECT_TRUE(says(problem("las", {{"limits", "2h,1h"}}), "rising"));
  EXPECT_TRUE(says(problem("las", {{"limits", "1h,x"}}), "option limits"));
  EXPECT_TRUE(says(problem("gittins", {{"delta", "0s"}}), "delta"));
}

TEST(Registry, ALevelOfNoLengthIsRefused) {
  EXPECT_TRUE(says(problem("las", {{"limits", "0s,1h"}}), "limits"));
  EXPECT_TRUE(says(problem("muri-l", {{"limits", "0s"}}), "limits"));
}

TEST(Registry, EveryDefaultOfAWorldIsThatOfAnOption) {
  for (const PublishedWorld* world : kWorlds) {
    if (world == nullptr) continue;
    for (const PublishedPolicy& policy : world->policies) {
      for (const OptionDefault& value : policy.defaults) {
        EXPECT_TRUE(takes_option(policy.name, value.key))
            << world->name << ": " << policy.name << " has no option " << value.key;
      }
    }
    for (const OptionDefault& value : world->allocator_defaults) {
      EXPECT_TRUE(takes_option("fifo+tune", value.key)) << world->name << ": " << value.key;
    }
  }
}

TEST(Options, DefaultsAreReplacedAndOverruled) {
  const std::vector<OptionInfo> table = {{"a", "", "1"}, {"b", "", "3"}};
  const std::vector<OptionDefault> replaced = {{"a", "2"}};
  const Given none;
  const Given some = {{"a", "9"}};
  EXPECT_EQ(Options(table, {}, none).text("a"), "1");
  EXPECT_EQ(Options(table, replaced, none).text("a"), "2");
  EXPECT_EQ(Options(table, replaced, none).text("b"), "3");
  EXPECT_EQ(Options(table, replaced, some).text("a"), "9");
}

std::string services_problem(const std::string& text) {
  std::istringstream in(text);
  const auto read = parse_services("past.csv", in);
  return read.ok() ? "" : read.error().message;
}

TEST(Services, AreReadFromAColumn) {
  std::istringstream in(
      "\xef\xbb\xbf"
      "duration\r\n12.5\r\n\n3\n");
  const auto read = parse_services("past.csv", in);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value(), (std::vector<double>{12.5, 3}));
}

TEST(Services, BadInputSaysWhereAndWhat) {
  EXPECT_TRUE(says(services_problem("time\n1\n"), "past.csv:1: expected the header 'duration'"));
  EXPECT_TRUE(says(services_problem("duration\n1\nx\n"), "past.csv:3: expected a number"));
  EXPECT_TRUE(says(services_problem("duration\n-1\n"), "past.csv:2:"));
  EXPECT_TRUE(says(services_problem("duration\n0\n"), "past.csv:2:"));
  EXPECT_TRUE(says(services_problem("duration\nnan\n"), "past.csv:2:"));
  EXPECT_TRUE(says(services_problem("duration\n1e300\n"), "past.csv:2:"));
  EXPECT_TRUE(says(services_problem("duration\n"), "holds no service"));
  EXPECT_NE(services_problem(""), "");
}

TEST(Services, AMissingFileIsNamed) {
  EXPECT_TRUE(says(problem("gittins", {{"distribution", "no/such.csv"}}), "no/such.csv"));
}

}  // namespace
}  // namespace orrery
