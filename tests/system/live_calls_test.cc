#include <gtest/gtest.h>

#include "system/process.h"

namespace orrery {
namespace {

using Words = std::vector<std::string>;

struct WrongCall {
  Words words;
  std::vector<std::string> said;
};

// No scheduler is needed to be told what is wrong with a call.
TEST(LiveCalls, WrongOnesAreRefusedWithWhatToWriteInstead) {
  const TempFolder folder;
  const std::string file = folder.write("job.toml", "command = [\"a\"]\n\nmemry = \"16G\"\n");
  const std::string trace = folder.write("t.csv", "x");
  const std::vector<WrongCall> calls = {
      {{"submit", "--gpus", "two", "--", "a"}, {"--gpus: 'two'", "whole number"}},
      {{"submit", "train.sh"}, {"'train.sh'", "after --"}},
      {{"submit", "--gpu", "2", "--", "a"}, {"--gpu", "--gpus"}},
      {{"submit"}, {"after --"}},
      {{"submit", "--file", file}, {file + ":3: ", "'memry'", "'memory'"}},
      {{"status", "--state", folder.file("none")}, {"no such state directory", "orrery serve"}},
      {{"status", "--server", "head"}, {"--server: 'head'", "HOST:PORT"}},
      {{"cancel", "all", "--state", "x"}, {"'all'", "17-20"}},
      {{"whatif", "--trace", trace, "--state", "x"}, {"--trace", "--state"}},
      {{"whatif", "--trace", trace, "--policy", "las"}, {"--cluster"}},
      {{"whatif", "--trace", trace, "--cluster", "2x8"}, {"--policy"}},
      {{"whatif", "--state", "x", "--cluster", "2x8"}, {"--cluster", "its own"}},
      {{"record", "--state", "x", "--policy", "las", "-o", "y"}, {"--policy", "its own"}},
      {{"record", "--trace", trace, "--policy", "las", "-o", "y"}, {"--cluster"}},
  };
  for (const WrongCall& call : calls) {
    SCOPED_TRACE(testing::PrintToString(call.words));
    const Finished run = run_orrery(call.words);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    for (const std::string& part : call.said) {
      EXPECT_NE(run.err.find(part), std::string::npos) << "no '" << part << "' in " << run.err;
    }
  }
}

TEST(LiveCalls, ASchedulerThatIsNotThereIsAFailureAndNotAWrongCall) {
  const TempFolder folder;
  const Finished run =
      run_orrery({"submit", "--state", folder.path().string(), "--", "a", "[1,2]", "--help"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("says no address"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace orrery
