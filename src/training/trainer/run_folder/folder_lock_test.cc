#include "training/trainer/run_folder/folder_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "training/trainer/test_run.h"

namespace orrery {
namespace {

TEST(FolderLock, ASecondHolderIsRefusedByThePidOfTheFirst) {
  const TestFolder folder;
  std::optional<FolderLock> first(FolderLock::take(folder.path()).value());
  const auto second = FolderLock::take(folder.path());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::FailedPrecondition);
  EXPECT_NE(second.error().message.find("process " + std::to_string(getpid())), std::string::npos)
      << second.error().message;
  first.reset();
  EXPECT_TRUE(FolderLock::take(folder.path()).ok());
}

TEST(FolderLock, AFolderThatIsMissingIsAnError) {
  EXPECT_FALSE(FolderLock::take("/nowhere/at/all").ok());
}

}  // namespace
}  // namespace orrery
