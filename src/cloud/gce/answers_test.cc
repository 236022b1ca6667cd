#include "cloud/gce/answers.h"

#include <gtest/gtest.h>

#include "cloud/gce/credentials.h"
#include "cloud/gce/faults.h"
#include "cloud/gce/requests.h"

namespace orrery {
namespace {

TEST(GceAnswers, EveryStatusOfTheServiceIsKnown) {
  const struct {
    const char* word;
    GceStatus status;
  } cases[] = {{"PENDING", GceStatus::Pending},         {"PROVISIONING", GceStatus::Provisioning},
               {"STAGING", GceStatus::Staging},         {"RUNNING", GceStatus::Running},
               {"STOPPING", GceStatus::Stopping},       {"SUSPENDING", GceStatus::Stopping},
               {"DEPROVISIONING", GceStatus::Stopping}, {"SUSPENDED", GceStatus::Stopped},
               {"STOPPED", GceStatus::Stopped},         {"TERMINATED", GceStatus::Stopped},
               {"REPAIRING", GceStatus::Repairing},     {"A_NEW_WORD", GceStatus::Repairing}};
  for (const auto& [word, status] : cases) {
    const auto read = read_instance(
        std::string(R"({"kind":"compute#instance","name":"a","status":")") + word + R"("})");
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read.value().status, status) << word;
  }
}

TEST(GceAnswers, AnInstanceIsReadWithItsLastParts) {
  const auto read = read_instance(R"({"kind":"compute#instance","id":"77","name":"a",
    "zone":"https://www.googleapis.com/compute/v1/projects/p/zones/us-east1-c",
    "machineType":"https://www.googleapis.com/x/machineTypes/n1-standard-4",
    "status":"RUNNING","creationTimestamp":"2026-11-19T10:00:00.000-08:00",
    "networkInterfaces":[{"networkIP":"10.0.0.2","accessConfigs":[{"natIP":"203.0.113.9"}]}],
    "labels":{"job":"x","n":7},"metadata":{"items":[{"key":"k","value":"v"}]}})");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().id, "77");
  EXPECT_EQ(read.value().zone, "us-east1-c");
  EXPECT_EQ(read.value().machine_type, "n1-standard-4");
  EXPECT_EQ(read.value().address, "203.0.113.9");
  EXPECT_EQ(read.value().labels.size(), 1U);
  EXPECT_EQ(read.value().metadata.at("k"), "v");
  EXPECT_EQ(read.value().started, kNever);
}

TEST(GceAnswers, FaultsAreReadFromEveryShape) {
  EXPECT_EQ(read_fault(R"({"error":"invalid_grant","error_description":"why"})").message, "why");
  EXPECT_EQ(read_fault(R"({"error":{"status":"PERMISSION_DENIED","message":"m"}})").code,
            "PERMISSION_DENIED");
  EXPECT_EQ(read_fault(R"({"error":{"errors":[{"reason":"quotaExceeded"}]}})").code,
            "quotaExceeded");
  for (const char* body : {"", "<html>", "[]", "{\"error\":7}", "{\"error\":{\"errors\":{}}}"}) {
    EXPECT_EQ(read_fault(body).code, "") << body;
  }
}

TEST(GceFaults, TheFaultThatSaysMostDecides) {
  const GceFault count{"VM_MIN_COUNT_NOT_REACHED", "4 could not be created"};
  EXPECT_NE(error_of({count, {"QUOTA_EXCEEDED", "GPUS"}}).message.find("quota"), std::string::npos);
  EXPECT_EQ(error_of({count}).code, Code::ResourceExhausted);
  EXPECT_EQ(error_of({count, {"RESOURCE_ALREADY_EXISTS", "a"}}).code, Code::AlreadyExists);
  EXPECT_EQ(error_of({{"SOMETHING_NEW", "x"}}).code, Code::Internal);
}

TEST(GceFaults, AMessageOfTheServiceIsPlainAndShort) {
  const Error error = error_of(400, {.code = "a\x1b[31m", .message = std::string(9000, 'x')});
  EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
  EXPECT_LT(error.message.size(), 400U);
}

TEST(GceRequests, OneIdentityFollowsFromNamesAndIdentities) {
  std::vector<ServerSpec> specs(2);
  specs[0].name = "a";
  specs[0].request_id = "c0f0a11e-0000-4000-8000-000000000001";
  specs[1].name = "b";
  specs[1].request_id = "c0f0a11e-0000-4000-8000-000000000002";
  const std::string id = bulk_groups(specs, 2).front().request_id;
  EXPECT_TRUE(is_uuid(id));
  std::swap(specs[0], specs[1]);
  EXPECT_EQ(bulk_groups(specs, 2).front().request_id, id);
  specs[0].request_id.back() = '9';
  EXPECT_NE(bulk_groups(specs, 2).front().request_id, id);
}

TEST(GceRequests, TheMinimumOfAGroupIsWhatTheOthersCannotGive) {
  std::vector<ServerSpec> specs(5);
  for (std::size_t i = 0; i < 5; ++i) specs[i].offer.zone = i < 3 ? "one" : "two";
  const auto groups = bulk_groups(specs, 4);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].min, 2U);
  EXPECT_EQ(groups[1].min, 1U);
  EXPECT_EQ(bulk_groups(specs, 0)[0].min, 1U);
}

}  // namespace
}  // namespace orrery
