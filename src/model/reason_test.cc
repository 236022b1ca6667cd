#include "model/reason.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using Code = Reason::Code;

TEST(Reason, NamesTheJobThatGoesFirstWhereThereIsOne) {
  EXPECT_EQ(text({.code = Code::Outranked, .other = JobId{7}}), "preempted by job #7");
  EXPECT_EQ(text({.code = Code::Outranked}), "preempted by jobs that go first");
}

TEST(Reason, TimesAreRoundedUpToTheSecond) {
  EXPECT_EQ(text({.code = Code::TooLate, .earliest = time_from_seconds(61.25)}),
            "refused: not even alone could it be done in time; the earliest that can be promised "
            "is 62s");
  EXPECT_EQ(text({.code = Code::Later, .from = time_from_seconds(7200)}),
            "begins at 2h, which is early enough");
}

TEST(Reason, ASpanWithoutAnEndHasNoTimeOfItsEnd) {
  EXPECT_EQ(text({.code = Code::Promised,
                  .wanted = 4,
                  .available = 2,
                  .from = time_from_seconds(60),
                  .until = kNever,
                  .earliest = kNever}),
            "refused: from 1m on it would need 4 GPUs, 2 are not promised yet; no deadline could "
            "be promised");
  EXPECT_EQ(text({.code = Code::Later, .from = kNever}), "begins at never, which is early enough");
}

TEST(Reason, EveryCodeButNoneHasASentenceWithoutGaps) {
  EXPECT_EQ(text({}), "");
  for (int code = 1; code <= static_cast<int>(Code::PolicyChanged); ++code) {
    const std::string sentence = text({.code = static_cast<Code>(code)});
    EXPECT_GT(sentence.size(), 10u) << code;
    EXPECT_EQ(sentence.find("18446744073709551615"), std::string::npos) << sentence;
  }
}

}  // namespace
}  // namespace orrery
