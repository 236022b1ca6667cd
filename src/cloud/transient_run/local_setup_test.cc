#include "cloud/transient_run/local_setup.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace orrery {
namespace {

using std::chrono::hours;

TEST(LocalSetup, LifetimesAreReadByName) {
  Random random(1);
  EXPECT_EQ(parse_lifetime("fixed:2h").value().sample(random), Duration(hours(2)));
  EXPECT_DOUBLE_EQ(parse_lifetime("never").value().survival(hours(1000)), 1);
  const Lifetime weibull = parse_lifetime("weibull:0.6,102.9+24h").value();
  EXPECT_EQ(weibull.limit(), Duration(hours(24)));
  EXPECT_NEAR(weibull.survival(hours(1)), std::exp(-std::pow(1 / 102.9, 0.6)), 1e-12);
  EXPECT_NEAR(parse_lifetime("exponential:0.5").value().survival(hours(2)), std::exp(-1.0), 1e-12);
}

TEST(LocalSetup, OtherWordsAreErrorsThatSayWhatToWrite) {
  for (const char* const text : {"", "soon", "weibull:1", "weibull:0,1", "exponential:-1",
                                 "fixed:yesterday", "never+0s", "empirical:nowhere.csv"}) {
    EXPECT_FALSE(parse_lifetime(text).ok()) << text;
  }
  EXPECT_NE(parse_lifetime("soon").error().message.find("weibull:SHAPE,SCALE_H"),
            std::string::npos);
  LocalSpec spec;
  spec.lifetimes = {"K80"};
  EXPECT_NE(expected_lifetimes(spec).error().message.find("GPU=weibull"), std::string::npos);
}

TEST(LocalSetup, WorkersHaveTheQuotaOfTheirGpu) {
  LocalSpec spec;
  EXPECT_EQ(cores_of(worker_cores(spec).value(), {.gpu = "K80"}), 0);
  spec.cores = {"K80=0.1", "*=0.3"};
  const WorkerCores cores = worker_cores(spec).value();
  EXPECT_EQ(cores_of(cores, {.gpu = "K80"}), 0.1);
  EXPECT_EQ(cores_of(cores, {.gpu = "V100"}), 0.3);
  for (const char* const text : {"K80", "K80=", "K80=fast", "K80=0", "K80=-1", "K80=nan"}) {
    spec.cores = {text};
    EXPECT_FALSE(worker_cores(spec).ok()) << text;
  }
}

TEST(LocalSetup, OnlySpotServersAreRevoked) {
  LocalSpec spec;
  spec.lifetimes = {"K80=exponential:1", "*=never"};
  const ServerWorld world = local_world(spec, {}, Time{}).value();
  const Offer spot{.gpu = "K80", .offer_class = OfferClass::Spot};
  Offer on_demand = spot;
  on_demand.offer_class = OfferClass::OnDemand;
  EXPECT_TRUE(world.lifetime(spot).has_value());
  EXPECT_FALSE(world.lifetime(on_demand).has_value());
}

TEST(LocalSetup, RevocationsAndTracesCountFromTheStart) {
  const TestFolder folder;
  ASSERT_TRUE(write_file_atomically(folder.file("zone.json"),
                                    R"({"metadata": {"gap_seconds": 60}, "data": [2, 0, 1]})")
                  .ok());
  LocalSpec spec;
  spec.revocations = {"job-worker-1@90s"};
  spec.capacity = {"us-east1-c=" + folder.file("zone.json")};
  const Time start = time_from_seconds(1e9);
  const ServerWorld world = local_world(spec, {}, start).value();
  EXPECT_EQ(world.revocations[0].at, start + std::chrono::seconds(90));
  const ZoneTrace& trace = world.traces.at("us-east1-c");
  EXPECT_EQ(trace.at(start), 2);
  EXPECT_EQ(trace.at(start + std::chrono::seconds(61)), 0);
  EXPECT_EQ(trace.next_change(start), start + std::chrono::seconds(60));
}

TEST(LocalSetup, ADamagedTraceIsAnError) {
  const TestFolder folder;
  ASSERT_TRUE(write_file_atomically(folder.file("zone.json"), "{\"data\": [1").ok());
  LocalSpec spec;
  spec.capacity = {"a=" + folder.file("zone.json")};
  EXPECT_NE(local_world(spec, {}, Time{}).error().message.find("no trace of spot capacity"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
