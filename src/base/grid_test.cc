#include "base/grid.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(Grid, ColumnsAreAsWideAsWhatTheyHold) {
  const GridColumn columns[] = {{"name", true}, {"n"}, {"remark", true}};
  const std::vector<std::string> rows[] = {{"a", "1000", "x"}, {"longer", "7"}, {"b"}};
  EXPECT_EQ(grid(columns, rows),
            "name       n  remark\n"
            "a       1000  x\n"
            "longer     7\n"
            "b\n");
}

TEST(Grid, LettersOfSeveralBytesAreOneWide) {
  const GridColumn columns[] = {{"é", true}, {"n"}};
  const std::vector<std::string> rows[] = {{"ü", "1"}, {"ab", "2"}};
  EXPECT_EQ(grid(columns, rows), "é   n\nü   1\nab  2\n");
}

}  // namespace
}  // namespace orrery
