#include "workload/merged.h"

#include <gtest/gtest.h>

#include <sstream>

#include "workload/same_workload.h"
#include "workload/trace.h"

namespace orrery {
namespace {

Workload parsed(const std::string& text) {
  std::istringstream in(text);
  auto workload = parse_trace("t.csv", in);
  EXPECT_TRUE(workload.ok()) << workload.error().message;
  return std::move(workload).value();
}

const std::string kHeader =
    "job_id,submit_s,gpus,duration_s,model,user,stages_s,speeds,speed_gpus\n";
const std::string kA = "a,0,1,100,bert,ann,1;2,1;1.5,1;2\n";
const std::string kB = "b,5,2,60,vgg16,,,,\n";
const std::string kC = "c,5,1,30,bert,bob,3,2;3,1;4\n";

TEST(Merged, IsWhatOneFileWithAllJobsIs) {
  auto both = merged(parsed(kHeader + kA + kB), parsed(kHeader + kC));
  ASSERT_TRUE(both.ok());
  EXPECT_TRUE(same_workload(both.value(), parsed(kHeader + kA + kB + kC)));
  auto turned = merged(parsed(kHeader + kC), parsed(kHeader + kA + kB));
  ASSERT_TRUE(turned.ok());
  EXPECT_EQ(turned.value().jobs[1].name, "c");  // the first one's job comes first at its instant
  EXPECT_EQ(turned.value().jobs[2].name, "b");
}

TEST(Merged, RefusesANameThatBothHave) {
  const auto both = merged(parsed(kHeader + kA), parsed(kHeader + kA));
  ASSERT_FALSE(both.ok());
  EXPECT_NE(both.error().message.find("'a'"), std::string::npos);
}

}  // namespace
}  // namespace orrery
