#include "live/daemon/policy/gate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace orrery {
namespace {

GateJob job(int id, std::string_view tenant, int gpus, int priority = 0, bool runs = false) {
  return {.job = static_cast<JobId>(id),
          .tenant = tenant,
          .gpus = gpus,
          .priority = priority,
          .runs = runs};
}

std::vector<int> held(std::vector<GateJob> jobs, const std::map<std::string, Quota>& quotas,
                      int gpus) {
  std::vector<int> ids;
  for (const Held& one : jobs_to_hold(std::move(jobs), quotas, gpus)) {
    ids.push_back(static_cast<int>(one.job));
  }
  std::ranges::sort(ids);
  return ids;
}

TEST(Gate, HoldsNoJobWithoutQuotasAndPriorities) {
  EXPECT_EQ(held({job(0, "a", 8), job(1, "b", 8), job(2, "a", 1)}, {}, 4), std::vector<int>{});
}

TEST(Gate, HoldsBackLowerClassesOnlyWhenHigherOnesLeaveNothing) {
  EXPECT_EQ(held({job(0, "a", 4, 1), job(1, "a", 4, 0)}, {}, 8), std::vector<int>{});
  EXPECT_EQ(held({job(0, "a", 8, 1), job(1, "a", 4, 0)}, {}, 8), std::vector<int>{1});
  EXPECT_EQ(held({job(0, "a", 8, 1), job(1, "a", 4, 0, true)}, {}, 8), std::vector<int>{1});
}

TEST(Gate, KeepsATenantThatMayNotBorrowWithinItsQuota) {
  const std::map<std::string, Quota> quotas = {{"a", {.gpus = 4, .borrows = false}}};
  EXPECT_EQ(held({job(0, "a", 2), job(1, "a", 2), job(2, "a", 1)}, quotas, 100),
            std::vector<int>{2});
}

TEST(Gate, LendsWhatItsTenantDoesNotAskFor) {
  const std::map<std::string, Quota> quotas = {{"a", {.gpus = 4}}, {"b", {.gpus = 4}}};
  EXPECT_EQ(held({job(0, "a", 4), job(1, "a", 4)}, quotas, 8), std::vector<int>{});
  EXPECT_EQ(held({job(0, "a", 4, 0, true), job(1, "a", 4, 0, true), job(2, "b", 4)}, quotas, 8),
            std::vector<int>{1})
      << "what was lent is asked back";
  EXPECT_EQ(held({job(0, "other", 4, 0, true), job(1, "a", 4), job(2, "b", 4)}, quotas, 8),
            std::vector<int>{0});
}

TEST(Gate, CountsThoseThatRunBeforeThoseThatWait) {
  const std::map<std::string, Quota> quotas = {{"a", {.gpus = 4, .borrows = false}}};
  EXPECT_EQ(held({job(0, "a", 4), job(1, "a", 4, 0, true)}, quotas, 100), std::vector<int>{0});
}

TEST(Gate, NeverHoldsAJobWithinItsQuotaForABorrower) {
  Random random(7);
  for (int attempt = 0; attempt < 2000; ++attempt) {
    const int total = static_cast<int>(random.between(1, 16));
    std::map<std::string, Quota> quotas = {
        {"a", {.gpus = static_cast<int>(random.between(0, total))}}};
    quotas["b"] = {.gpus = static_cast<int>(random.between(0, total - quotas["a"].gpus)),
                   .borrows = random.uniform() < 0.5};
    std::vector<GateJob> jobs;
    std::map<std::string_view, int> asked;
    const char* const tenants[] = {"a", "b", "c"};
    for (int i = 0; i < random.between(1, 12); ++i) {
      jobs.push_back(job(i, tenants[random.between(0, 2)], static_cast<int>(random.between(1, 6)),
                         0, random.uniform() < 0.5));
      asked[jobs.back().tenant] += jobs.back().gpus;
    }
    const auto out = jobs_to_hold(jobs, quotas, total);
    for (const Held& one : out) {
      const GateJob& one_job = jobs[index(one.job)];
      const auto quota = quotas.find(std::string(one_job.tenant));
      const bool covered = quota != quotas.end() && asked[one_job.tenant] <= quota->second.gpus;
      EXPECT_FALSE(covered) << "attempt " << attempt;
      EXPECT_EQ(one.reason.code, Reason::Code::Quota);
    }
    std::ranges::reverse(jobs);
    EXPECT_EQ(held(jobs, quotas, total).size(), out.size()) << "the order of jobs means nothing";
  }
}

}  // namespace
}  // namespace orrery
