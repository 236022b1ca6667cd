#include "rpc/access.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

struct Counted {
  int asked = 0;
  Access access{.identify = [this](const std::string& pem) -> Result<Caller> {
    ++asked;
    if (pem == "forged") return Error{Code::Unauthenticated, "forged"};
    return Caller{.name = "owner of " + pem};
  }};
};

TEST(Gate, ACertificateIsReadOnceForManyCalls) {
  Counted counted;
  Gate gate(counted.access, true, 100);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(gate.enter("one").value().name, "owner of one");
    EXPECT_EQ(gate.enter("two").value().name, "owner of two");
  }
  EXPECT_EQ(counted.asked, 2);
}

TEST(Gate, ACertificateIsReadAgainWhenWhatWasSaidOfItIsOld) {
  Counted counted;
  Gate gate(counted.access, true, 100, Duration::zero());
  EXPECT_TRUE(gate.enter("one").ok());
  EXPECT_TRUE(gate.enter("one").ok());
  EXPECT_EQ(counted.asked, 2);
}

TEST(Gate, WhoIsRefusedIsAskedAboutEachTime) {
  Counted counted;
  Gate gate(counted.access, true, 100);
  EXPECT_FALSE(gate.enter("forged").ok());
  EXPECT_FALSE(gate.enter("forged").ok());
  EXPECT_EQ(counted.asked, 2);
  EXPECT_EQ(gate.calls(), 0);
}

}  // namespace
}  // namespace orrery
