#include <gtest/gtest.h>

#include "live/client/job_filter.h"
#include "live/client/testing/test_call.h"

namespace orrery {
namespace {

std::string message(const Status& status) { return status.ok() ? "" : status.error().message; }

TEST(Cancel, ListsTheJobsItEndedAndThoseThatHadEnded) {
  FakeCommandContext fake;
  fake.script.cancel = [](const CancelRequest& request) -> Result<CancelAnswer> {
    EXPECT_EQ(request.ids, (std::vector<JobNumber>{5, 17, 18, 19}));
    return CancelAnswer{.cancelled = {18, 17}};
  };
  ASSERT_TRUE(call(fake, {"cancel", "17-19", "5", "17"}).ok());
  EXPECT_EQ(fake.out, "cancelled 17, 18\nhad ended already: 5, 19\n");
  EXPECT_FALSE(call(fake, {"cancel"}).ok());
  EXPECT_NE(message(call(fake, {"cancel", "x"})).find("17-20"), std::string::npos);
}

// Jobs 1 to 4 of ann and bob, and a scheduler that cancels all it is asked to.
class CancelByFilter : public testing::Test {
 protected:
  CancelByFilter() {
    fake_.context.login = "ann";
    fake_.script.status = [](const StatusRequest& request) -> Result<StatusAnswer> {
      EXPECT_FALSE(request.finished);
      const auto job = [](JobNumber id, const char* name, const char* user, JobState state) {
        return JobStatus{.id = id, .name = name, .user = user, .state = state};
      };
      return StatusAnswer{.jobs = {job(1, "train-1", "ann", JobState::Pending),
                                   job(2, "train-2", "ann", JobState::Running),
                                   job(3, "train-3", "bob", JobState::Pending),
                                   job(4, "test", "ann", JobState::Pending)}};
    };
    fake_.script.cancel = [this](const CancelRequest& request) -> Result<CancelAnswer> {
      cancelled_.push_back(request.ids);
      return CancelAnswer{.cancelled = request.ids};
    };
    fake_.context.read_line = [this] { return Result<std::string>(answer_); };
    fake_.context.print_error = [this](std::string_view line) { asked_ += line; };
  }

  using Numbers = std::vector<std::vector<JobNumber>>;
  FakeCommandContext fake_;
  Numbers cancelled_;
  std::string answer_;
  std::string asked_;
};

TEST_F(CancelByFilter, TakesTheCallersOwnJobsThatMatchAll) {
  ASSERT_TRUE(call(fake_, {"cancel", "--state", "pending", "--name", "train-*"}).ok());
  ASSERT_TRUE(call(fake_, {"cancel", "--user", "bob"}).ok());
  ASSERT_TRUE(call(fake_, {"cancel", "--user", "*", "--name", "train-*", "--yes"}).ok());
  EXPECT_EQ(cancelled_, (Numbers{{1}, {3}, {1, 2, 3}}));
}

TEST(JobFilter, TheNameOfAnArrayIsThatOfItsJobs) {
  const JobStatus job{.name = "sleep[12]"};
  for (const char* name : {"sleep", "sleep[12]", "sl*", "sleep[[]12]"}) {
    EXPECT_TRUE(JobFilter{.name = name}.matches(job)) << name;
  }
  for (const char* name : {"sleep[1]", "slee", "sleep1"}) {
    EXPECT_FALSE(JobFilter{.name = name}.matches(job)) << name;
  }
}

TEST_F(CancelByFilter, SeveralJobsNeedAYesAndAreRefusedWithoutATerminal) {
  const Status refused = call(fake_, {"cancel", "--state", "pending,running"});
  EXPECT_EQ(message(refused), "3 jobs match (1, 2, 4); write --yes to cancel all of them");
  EXPECT_EQ(refused.error().code, Code::InvalidArgument);
  fake_.context.can_answer = true;
  answer_ = "no";
  EXPECT_FALSE(call(fake_, {"cancel", "--state", "pending"}).ok());
  EXPECT_NE(asked_.find("cancel 2 jobs (1, 4)?"), std::string::npos) << asked_;
  EXPECT_TRUE(cancelled_.empty());
  answer_ = "yes";
  EXPECT_TRUE(call(fake_, {"cancel", "--state", "pending"}).ok());
  EXPECT_EQ(cancelled_, (Numbers{{1, 4}}));
}

TEST_F(CancelByFilter, NoMatchIsNoFailureAndWrongWordsAre) {
  ASSERT_TRUE(call(fake_, {"cancel", "--name", "train"}).ok());
  EXPECT_EQ(fake_.out, "no job of ann matches\n");
  fake_.out.clear();
  ASSERT_TRUE(call(fake_, {"cancel", "--name", "train", "--json"}).ok());
  EXPECT_EQ(fake_.out, "{\"cancelled\":[],\"ended\":[]}\n");
  EXPECT_FALSE(call(fake_, {"cancel", "17", "--name", "x"}).ok());
  EXPECT_FALSE(call(fake_, {"cancel", "--state", "done"}).ok());
  EXPECT_NE(message(call(fake_, {"cancel", "--state", "pendign"})).find("'pendign' is none of"),
            std::string::npos);
  EXPECT_NE(message(call(fake_, {"cancel", "1", "--state", "pendign"})).find("pending, running"),
            std::string::npos);
  EXPECT_TRUE(cancelled_.empty());
}

}  // namespace
}  // namespace orrery
