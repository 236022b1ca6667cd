#include "training/sync/mode.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr WorkerId w(int i) { return WorkerId{i}; }

TEST(ModeName, SaysWhatAModeIs) {
  EXPECT_EQ(mode_name({}, 8), "ssgd");
  EXPECT_EQ(mode_name({.x = 8}, 8), "ssgd");
  EXPECT_EQ(mode_name({.x = 9}, 8), "ssgd");
  EXPECT_EQ(mode_name({.x = 1}, 8), "asgd");
  EXPECT_EQ(mode_name({.x = 1}, 1), "ssgd");
  EXPECT_EQ(mode_name({.parents = {{WorkerId{1}, WorkerId{0}}}}, 8), "ssgd+tree-7+1");
  EXPECT_EQ(mode_name({.x = 5}, 8), "static-5");
  EXPECT_EQ(mode_name({.x = 5, .shares = {{w(0), 0.5}}}, 8), "static-5+shares");
  EXPECT_EQ(mode_name({.shares = {{w(0), 0.5}}}, 8), "lb-bsp");
  EXPECT_EQ(mode_name({.rule = SyncRuleKind::Ssp, .bound = 3}, 8), "ssp-3");
  EXPECT_EQ(mode_name({.rule = SyncRuleKind::Lgc, .x = 6}, 8), "lgc-6");
  EXPECT_EQ(mode_name({.rule = SyncRuleKind::Lgc}, 8), "lgc-8");
  EXPECT_EQ(mode_name({.rule = SyncRuleKind::ZenoPlus}, 8), "zeno++");
  EXPECT_EQ(mode_name({.rule = SyncRuleKind::Ring}, 8), "ring-8");
  EXPECT_EQ(mode_name({.rule = SyncRuleKind::Ring, .ring = {w(0), w(1), w(2)}}, 4), "ring-3+1");
  EXPECT_EQ(mode_name({.rule = SyncRuleKind::Dynamic, .groups = {{w(3)}, {w(0), w(1)}}}, 4),
            "dynamic-{2,1,1}");
}

TEST(FixedMode, IsReadByName) {
  EXPECT_EQ(fixed_mode("ssgd", 0, 8).value(), Mode{});
  EXPECT_EQ(fixed_mode("asgd", 0, 8).value(), Mode{.x = 1});
  EXPECT_EQ(fixed_mode("static", 8, 8).value(), Mode{.x = 8});
  EXPECT_EQ(fixed_mode("ssp", 0, 8).value(), Mode{.rule = SyncRuleKind::Ssp});
  EXPECT_EQ(fixed_mode("ssp", 4, 8).value(), (Mode{.rule = SyncRuleKind::Ssp, .bound = 4}));
  EXPECT_EQ(fixed_mode("lgc", 6, 8).value(), (Mode{.rule = SyncRuleKind::Lgc, .x = 6}));
  EXPECT_EQ(fixed_mode("zeno++", 0, 8).value(), Mode{.rule = SyncRuleKind::ZenoPlus});
  EXPECT_EQ(fixed_mode("ring", 0, 8).value(), Mode{.rule = SyncRuleKind::Ring});
}

TEST(FixedMode, SaysWhatIsWrongAndWhatToWrite) {
  EXPECT_EQ(fixed_mode("static", 0, 8).error().message,
            "mode static: --x is 0, but the number of gradients an update is 1 to the number of "
            "workers, 8");
  EXPECT_FALSE(fixed_mode("static", 9, 8).ok());
  EXPECT_FALSE(fixed_mode("lgc", 0, 8).ok());
  EXPECT_FALSE(fixed_mode("ssp", -1, 8).ok());
  EXPECT_EQ(fixed_mode("sgd", 0, 8).error().message, "no mode 'sgd'; nearest is ssgd");
}

}  // namespace
}  // namespace orrery
