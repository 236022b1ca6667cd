#include "live/auth/derived_secret.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(DerivedSecret, FollowsFromKeyAndPurpose) {
  const Secret key("a key"), other("another key");
  const std::string first = derived_secret(key, "gang 1.1").reveal();
  EXPECT_EQ(first.size(), 64u);
  EXPECT_EQ(first.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(derived_secret(key, "gang 1.1").reveal(), first);
  EXPECT_NE(derived_secret(key, "gang 1.2").reveal(), first);
  EXPECT_NE(derived_secret(other, "gang 1.1").reveal(), first);
}

}  // namespace
}  // namespace orrery
