#include "training/sync/task_table.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace orrery {
namespace {

TEST(TaskTable, FindsExactlyWhatIsOpen) {
  Random random(1);
  TaskTable table;
  std::set<std::int64_t> open;
  std::int64_t next = 1;
  for (int round = 0; round < 20000; ++round) {
    if (open.empty() || random.uniform() < 0.5 + (round < 3000 ? 0.1 : -0.02)) {
      OpenTask& added = table.add(next);
      EXPECT_TRUE(added.merged.empty());
      EXPECT_EQ(added.merged_into, 0);
      added.task.number = next;
      added.merged = {next};
      open.insert(next++);
    } else {
      const auto one = std::next(open.begin(), random.between(0, std::ssize(open) - 1));
      table.remove(*one);
      open.erase(one);
    }
    const std::int64_t any = random.between(-2, next + 2);
    const OpenTask* const found = table.find(any);
    ASSERT_EQ(found != nullptr, open.contains(any));
    if (found != nullptr) {
      ASSERT_EQ(found->task.number, any);
    }
  }
  EXPECT_EQ(table.numbers(), std::vector<std::int64_t>(open.begin(), open.end()));
  for (const std::int64_t number : open) EXPECT_NE(table.find(number), nullptr);
}

}  // namespace
}  // namespace orrery
