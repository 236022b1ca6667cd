#include "base/sparse_table.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery {
namespace {

enum class Id : int {};

TEST(SparseTable, KeepsAValueForEachIdThatHasOne) {
  SparseTable<Id, std::string> table;
  EXPECT_FALSE(table.has(Id{0}));
  table.open(Id{3}) = "three";
  table.open(Id{1}) = "one";
  EXPECT_FALSE(table.has(Id{0}));
  EXPECT_TRUE(table.has(Id{1}));
  EXPECT_EQ(table[Id{3}], "three");
  table.close(Id{3});
  EXPECT_FALSE(table.has(Id{3}));
  EXPECT_EQ(table[Id{1}], "one");
}

TEST(SparseTable, AnIdThatIsOpenedAgainKeepsItsValue) {
  SparseTable<Id, int> table;
  table.open(Id{0}) = 5;
  EXPECT_EQ(table.open(Id{0}), 5);
}

TEST(SparseTable, MemoryFollowsTheValuesThereAre) {
  SparseTable<Id, int> table;
  const int* const first = &table.open(Id{0});
  for (int id = 1; id < 1000; ++id) {
    table.close(Id{id - 1});
    EXPECT_EQ(&table.open(Id{id}), first);
  }
}

}  // namespace
}  // namespace orrery
