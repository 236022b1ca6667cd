#include "live/auth/secret.h"

#include <gtest/gtest.h>

#include <sstream>
#include <utility>

namespace orrery {
namespace {

TEST(Secret, PrintsAsAWordInPlaceOfItself) {
  std::ostringstream out;
  out << Secret("hunter2");
  EXPECT_EQ(out.str(), "(secret)");
}

TEST(Secret, LeavesNothingBehindWhenItMoves) {
  for (const std::string& text : {std::string("short"), std::string(100, 'x')}) {
    Secret from(text);
    const Secret to = std::move(from);
    EXPECT_EQ(to.reveal(), text);
    EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move): what is left is the question.
    // Clearing a string overwrites its first byte only.
    EXPECT_EQ(std::string(from.reveal().data() + 1, 4), std::string(4, '\0'));
  }
}

TEST(Secret, IsTakenOverByAssignment) {
  Secret a("one");
  const Secret b("two");
  a = b;
  EXPECT_EQ(a.reveal(), "two");
  EXPECT_EQ(b.reveal(), "two");
}

TEST(ShownEnvironmentValue, HidesWhatIsNamedLikeASecret) {
  for (const char* name : {"HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "db_password", "WandbApiKey",
                           "GOOGLE_APPLICATION_CREDENTIALS", "PGPASSWD", "SSH_PASSPHRASE", "KEY"}) {
    EXPECT_EQ(shown_environment_value(name, "v"), "(secret)") << name;
  }
}

TEST(ShownEnvironmentValue, ShowsEverythingElse) {
  for (const char* name : {"PATH", "CUDA_VISIBLE_DEVICES", "", "KE", "TOKE_N", "BYPASS"}) {
    EXPECT_EQ(shown_environment_value(name, "v"), "v") << name;
  }
  EXPECT_EQ(shown_environment_value("HF_TOKEN", ""), "");
}

}  // namespace
}  // namespace orrery
