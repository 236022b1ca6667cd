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

}  // namespace
}  // namespace orrery
