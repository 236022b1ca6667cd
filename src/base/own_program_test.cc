#include "base/own_program.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_folder.h"

namespace orrery {
namespace {

void put_program(const TestFolder& folder, const std::string& path) {
  folder.write(path, "");
  std::filesystem::permissions(folder / path, std::filesystem::perms::owner_all);
}

TEST(OwnProgram, StandsBesideThisOneInABuildFolder) {
  const TestFolder build;
  put_program(build, "bin/orrery-whole");
  put_program(build, "libexec/orrery/orrery-whole");
  EXPECT_EQ(own_program("orrery-whole", build / "bin"), build / "bin/orrery-whole");
}

TEST(OwnProgram, IsFoundBothWaysInAnInstalledTree) {
  const TestFolder prefix;
  put_program(prefix, "libexec/orrery/orrery-whole");
  put_program(prefix, "bin/orrery-train");
  EXPECT_EQ(own_program("orrery-whole", prefix / "bin"), prefix / "libexec/orrery/orrery-whole");
  EXPECT_EQ(own_program("orrery-train", prefix / "libexec/orrery"), prefix / "bin/orrery-train");
}

TEST(OwnProgram, ThatIsMissingOrNoProgramIsNamedBesideThisOne) {
  const TestFolder prefix;
  prefix.write("libexec/orrery/orrery-whole", "");
  std::filesystem::permissions(prefix / "libexec/orrery/orrery-whole",
                               std::filesystem::perms::owner_read);
  EXPECT_EQ(own_program("orrery-whole", prefix / "bin"), prefix / "bin/orrery-whole");
}

}  // namespace
}  // namespace orrery
