#include "cloud/models/revocation_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace orrery {
namespace {

using std::chrono::hours;

// `revoked` of `servers` die in the zone, at the hours 1, 2, 3 ...
void add(std::vector<LifetimeRecord>& records, const char* gpu, const char* zone, int servers,
         int revoked) {
  for (int i = 0; i < servers; ++i) {
    LifetimeRecord record;
    record.gpu = gpu, record.zone = zone;
    record.revoked = i < revoked;
    record.age = record.revoked ? Duration(hours(1 + i)) : kPreemptibleLife;
    records.push_back(record);
  }
}

std::vector<LifetimeRecord> two_zones() {
  std::vector<LifetimeRecord> records;
  add(records, "K80", "us-east1-c", 30, 0);
  add(records, "K80", "us-central1-c", 30, 20);
  add(records, "V100", "us-east1-c", 5, 0);
  return records;
}

TEST(RevocationModel, AZoneThatLosesServersIsMoreDangerous) {
  const RevocationModel model = RevocationModel::fit(two_zones());
  const auto safe = model.lifetime("K80", "us-east1-c");
  const auto bad = model.lifetime("K80", "us-central1-c");
  const auto unknown = model.lifetime("K80", "asia-east1-a");
  ASSERT_TRUE(safe.ok() && bad.ok() && unknown.ok());
  EXPECT_GT(safe.value().survival(hours(12)), unknown.value().survival(hours(12)));
  EXPECT_GT(unknown.value().survival(hours(12)), bad.value().survival(hours(12)));
  EXPECT_EQ(safe.value().limit(), kPreemptibleLife);
}

TEST(RevocationModel, AZoneWithoutLossesIsNotTakenForSafe) {
  const RevocationModel model = RevocationModel::fit(two_zones());
  EXPECT_GT(model.zone_factor("K80", "us-east1-c"), 0.1);
  EXPECT_LT(model.zone_factor("K80", "us-east1-c"), 0.5);
  EXPECT_EQ(model.zone_factor("K80", "nowhere"), 1);
}

TEST(RevocationModel, AGpuThatWasNeverRevokedLivesToItsLimit) {
  const RevocationModel model = RevocationModel::fit(two_zones());
  Random random(1);
  const auto lifetime = model.lifetime("V100", "us-east1-c");
  ASSERT_TRUE(lifetime.ok());
  EXPECT_EQ(lifetime.value().sample(random), kPreemptibleLife);
  EXPECT_FALSE(model.lifetime("T4", "us-east1-c").ok());
}

TEST(RevocationModel, ZonesThatDifferHelpToPredictServersLeftOut) {
  std::vector<LifetimeRecord> records = two_zones();
  std::erase_if(records, [](const LifetimeRecord& record) { return record.gpu == "V100"; });
  const auto held_out = held_out_likelihood(records);
  ASSERT_TRUE(held_out.ok()) << held_out.error().message;
  EXPECT_EQ(held_out.value().servers, 60u);
  EXPECT_GT(held_out.value().weibull_zone, held_out.value().weibull);
}

}  // namespace
}  // namespace orrery
