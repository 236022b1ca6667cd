#include "live/daemon/answers/question_limit.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <vector>

#include "base/test_folder.h"
#include "live/daemon/server/server.h"

namespace orrery {
namespace {

TEST(QuestionLimit, OneCallerCannotKeepOthersFromAsking) {
  QuestionLimit limit;
  std::vector<QuestionLimit::Place> places;
  for (int i = 0; i < QuestionLimit::kOfOneMost; ++i) places.push_back(limit.enter("ann").value());
  const auto refused = limit.enter("ann");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::ResourceExhausted);
  EXPECT_EQ(refused.error().message,
            "2 questions of ann are being answered; ask again when one has its answer");
  EXPECT_TRUE(limit.enter("bob").ok());
  places.pop_back();
  EXPECT_TRUE(limit.enter("ann").ok());
}

TEST(QuestionLimit, AllTogetherAreBounded) {
  QuestionLimit limit;
  std::vector<QuestionLimit::Place> places;
  for (int i = 0; i < QuestionLimit::kMost; ++i) {
    places.push_back(limit.enter("user" + std::to_string(i)).value());
  }
  EXPECT_FALSE(limit.enter("another").ok());
  places.clear();
  EXPECT_TRUE(limit.enter("another").ok());
}

// Questions that are being answered until they are let go.
class SlowAnswers {
 public:
  Result<WhatIfAnswer> answer() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return let_go_; });
    return WhatIfAnswer{.text = "in an hour"};
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    let_go_ = true;
    changed_.notify_all();
  }
  void came(const Result<WhatIfAnswer>& answer) {
    const std::lock_guard lock(mutex_);
    ++(answer.ok() ? answered_ : refused_);
    changed_.notify_all();
  }
  void wait_for(int answered, int refused) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60),
                                  [&] { return answered_ >= answered && refused_ >= refused; }))
        << answered_ << " answered, " << refused_ << " refused";
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool let_go_ = false;
  int answered_ = 0, refused_ = 0;
};

// Each is answered on a thread with a copy of all jobs.
TEST(QuestionLimit, AUserCannotMakeTheSchedulerAnswerAnyNumberOfQuestionsAtATime) {
  const TestFolder folder;
  SlowAnswers answers;
  auto started = SchedulerServer::start(
      {.state = folder.path(),
       .ask_what_if = [&](const std::string&, const WhatIfRequest&) { return answers.answer(); }});
  ASSERT_TRUE(started.ok()) << started.error().message;
  const auto ask = [&](const char* name) {
    started.value()->what_if({.role = Caller::Role::User, .name = name}, {.nodes_more = 1},
                             [&](const Result<WhatIfAnswer>& answer) { answers.came(answer); });
  };
  constexpr int kAsked = 20;
  for (int i = 0; i < kAsked; ++i) ask("ann");
  ask("bob");
  answers.wait_for(0, kAsked - QuestionLimit::kOfOneMost);
  answers.let_go();
  answers.wait_for(QuestionLimit::kOfOneMost + 1, kAsked - QuestionLimit::kOfOneMost);
  EXPECT_TRUE(started.value()->stop().ok());
}

}  // namespace
}  // namespace orrery
