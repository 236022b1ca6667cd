// `orrery transient run`: what is wrong is said before anything is made.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/database/database.h"
#include "system/process.h"

namespace orrery {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kPrices = R"(date = "2026-11-01"
source = "test"
[[offer]]
zones = ["east", "west"]
gpu = "K80"
gpus = 1
class = "spot"
usd_per_hour = 0.2
[[offer]]
zones = ["east"]
class = "on-demand"
usd_per_hour = 0.1
)";

class TransientBadInput : public testing::Test {
 protected:
  // A run that would begin, but for what `more` changes.
  Finished run(const Words& more, bool prices = true) {
    Words words = {"transient", "run", "--dir", folder_.file("job"), "--steps", "10"};
    const auto add = [&](const std::string& option, const std::string& value) {
      if (std::ranges::find(more, option) == more.end()) {
        words.insert(words.end(), {option, value});
      }
    };
    add("--trainer", "/bin/true");
    add("--workers", "2");
    if (prices) add("--prices", folder_.write("prices.toml", kPrices));
    words.insert(words.end(), more.begin(), more.end());
    return run_orrery(words);
  }
  void expect_refused(const Finished& finished, const std::string& message, int exit_code = 2) {
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_NE(finished.err.find(message), std::string::npos) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.file("job"))) << message;
  }

  const TestFolder folder_;
};

TEST_F(TransientBadInput, ListsOfTheWrongLengthNameTheServerThatLacksAnEntry) {
  expect_refused(run({"--gpu", "K80,K80", "--zone", "east"}), "worker-2 lacks an entry");
  expect_refused(run({"--gpu", "K80", "--zone", "east,west,east"}), "ps-0 lacks an entry");
  expect_refused(run({"--gpu", "K80", "--zone", "east,west,east,east,east"}),
                 "zones named: 5, servers: 4");
  const std::string file = folder_.write("job.toml", R"(prices = "prices.toml"
[chief]
gpu = "K80"
zone = "east"
[workers]
count = 3
gpu = ["K80", "K80"]
zone = "east"
[parameter_servers]
zone = "east"
)");
  expect_refused(run({"--workers", "3", file}), "workers: GPUs named: 2, servers: 3: worker-3");
}

TEST_F(TransientBadInput, UnknownZonesAndGpusAreAnsweredWithTheKnownOnes) {
  expect_refused(run({"--gpu", "K80", "--zone", "north"}), "no zone 'north'; the zones are east, ");
  expect_refused(run({"--gpu", "H900", "--zone", "east"}), "no GPU 'H900'; the GPUs are K80");
}

TEST_F(TransientBadInput, PricesThatAreMissingAreNamed) {
  expect_refused(run({"--gpu", "K80", "--zone", "east"}, false), "add --prices FILE");
  expect_refused(run({"--gpu", "K80", "--zone", "west"}), "parameter_servers: ");
  expect_refused(run({"--gpu", "K80", "--zone", "west"}), "there is no price for");
  expect_refused(run({"--gpu", "K80", "--zone", "east", "--on-demand", "workers"}),
                 "workers: " + folder_.file("prices.toml"));
  expect_refused(run({"--gpu", "K80", "--zone", "east", "--prices", folder_.file("none.toml")}),
                 "none.toml", 1);
}

TEST_F(TransientBadInput, ALedgerOfAnotherVersionIsLeftAsItIs) {
  const std::string path = folder_.file("ledger.db");
  {
    auto opened = Database::open(path, {});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    Database database = std::move(opened).value();
    ASSERT_TRUE(database
                    .run("PRAGMA application_id=1330793543;PRAGMA user_version=7;"
                         "CREATE TABLE later(x)")
                    .ok());
  }
  const std::string before = file_text(path);
  expect_refused(run({"--gpu", "K80", "--zone", "east", "--ledger", path}),
                 path + ": is a ledger of version 7; this Orrery reads version 1", 1);
  EXPECT_EQ(file_text(path), before);
}

TEST_F(TransientBadInput, OtherWordsAreAnsweredWithWhatToWrite) {
  const auto with = [this](const Words& more) {
    Words words = {"--gpu", "K80", "--zone", "east"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  expect_refused(with({"--rate-rule", "fast"}), "write inverse-root, linear, none or naive");
  expect_refused(with({"--replacement", "never"}), "write go-on, same, cheapest");
  expect_refused(with({"--lifetime", "K80=soon"}), "weibull:SHAPE,SCALE_H");
  expect_refused(with({"--cores", "K80=0"}), "such as GPU=0.1");
  expect_refused(with({"--revoke", "job-worker-1"}), "SERVER@90s");
  expect_refused(with({"--trainer", folder_.file("none")}), "no such program", 1);
  expect_refused(run({folder_.write("cut.toml", "[workers]\ncount = ")}), "cut.toml:2");
}

}  // namespace
}  // namespace orrery
