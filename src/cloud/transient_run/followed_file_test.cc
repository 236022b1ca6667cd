#include "cloud/transient_run/followed_file.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace orrery {
namespace {

using Lines = std::vector<std::string>;

TEST(FollowedFile, GivesEachLineOnceAndHalfALineWithItsEnd) {
  const TestFolder folder;
  FollowedFile file(folder.file("names"));
  EXPECT_EQ(file.new_lines(), Lines{}) << "there is no file yet";
  folder.write("names", "a\nb\nhal");
  EXPECT_EQ(file.new_lines(), (Lines{"a", "b"}));
  EXPECT_EQ(file.new_lines(), Lines{});
  folder.write("names", "a\nb\nhalf\n\nc\n");
  EXPECT_EQ(file.new_lines(), (Lines{"half", "", "c"}));
}

}  // namespace
}  // namespace orrery
