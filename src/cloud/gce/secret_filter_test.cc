#include "cloud/gce/secret_filter.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

const std::string kToken = "ya29.abcdefghijklmnopqrstuvwxyz0123456789";

TEST(SecretFilter, NoPartOfASecretIsLeft) {
  SecretFilter filter;
  filter.add(kToken);
  EXPECT_EQ(filter.clean("the token " + kToken + " is bad"), "the token (secret) is bad");
  EXPECT_EQ(filter.clean(kToken.substr(9) + "."), "(secret).");
  EXPECT_EQ(filter.clean("x" + kToken.substr(0, 20)), "x(secret)");
  EXPECT_EQ(filter.clean(kToken + kToken), "(secret)(secret)");
  EXPECT_EQ(filter.clean("no secret here"), "no secret here");
  EXPECT_EQ(filter.clean(""), "");
}

TEST(SecretFilter, AKeyIsKnownLineByLine) {
  SecretFilter filter;
  filter.add_for_ever(
      "-----BEGIN PRIVATE KEY-----\nMIIabcdefghijklmnopqrstu\nvwxyzABCDEFGHIJKLMN\n");
  EXPECT_EQ(filter.clean("MIIabcdefghijklmnopqrstu|vwxyzABCDEFGHIJKLMN"), "(secret)|(secret)");
  EXPECT_EQ(filter.clean("-----BEGIN PRIVATE KEY-----"), "-----BEGIN PRIVATE KEY-----");
}

TEST(SecretFilter, TheNewestTokensAreKnownAndTheKeyAlways) {
  SecretFilter filter;
  filter.add_for_ever(kToken + "\n");
  for (int i = 0; i < 200; ++i) filter.add("token-number-" + std::to_string(1'000'000 + i));
  EXPECT_EQ(filter.clean("token-number-1000199"), "(secret)");
  EXPECT_EQ(filter.clean(kToken), "(secret)");
}

}  // namespace
}  // namespace orrery
