// What leaves the scheduler holds no secret, for any caller and any call.
#include <gtest/gtest.h>

#include "live/auth/openssl.h"
#include "rights/transports.h"

namespace orrery {
namespace {

constexpr const char* kValue = "hush-4711";

class Secrets : public testing::Test {
 protected:
  // The part of a token's text between the points is the secret.
  static std::string digest_of(const std::string& token) {
    const std::size_t first = token.find('.') + 1;
    return hex(sha256(token.substr(first, token.find('.', first) - first)));
  }

  JobRequest job(const std::string& user) const {
    return {.argv = {"/home/" + user + "/run.sh", "argument-of-" + user},
            .environment = {{"HARMLESS", kValue}},
            .directory = "/home/" + user + "/directory",
            .name = "name-of-" + user,
            .user = user,
            .tenant = user == "eve" ? "nlp" : user,
            .expected = std::chrono::hours(1),
            .output = "/home/" + user + "/output",
            .checkpoint_directory = "/home/" + user + "/checkpoints"};
  }

  TestScheduler scheduler_;
};

TEST_F(Secrets, NoAnswerHoldsAValueOfTheEnvironmentOrTheDigestOfAToken) {
  for (const char* user : {"ann", "eve", "otto", "root"}) scheduler_.submit(job(user));
  const auto token = scheduler_.by_socket(kAdmin)->make_token({.name = "node1"});
  ASSERT_TRUE(token.ok());
  const std::string digest = digest_of(token.value().token);
  for (const Role role : kRoles) {
    const Identity caller{role, role == Role::Admin ? "root" : role == Role::User ? "ann" : "otto"};
    for (int number = 0; number < kCalls; ++number) {
      if (Call{number} == Call::Attend || Call{number} == Call::Cancel) continue;
      for (const Transport transport : kTransports) {
        for (JobNumber id = 1; id <= (has_owner(Call{number}) ? 4 : 1); ++id) {
          const Outcome outcome = ask(scheduler_, transport, caller,
                                      {.call = Call{number}, .owner = caller.name, .job = id});
          const std::string said = outcome.text + (outcome.error ? outcome.error->message : "");
          EXPECT_EQ(said.find(kValue), std::string::npos)
              << to_string(Call{number}) << " by " << to_string(role) << " over "
              << to_string(transport) << ": " << said;
          EXPECT_EQ(said.find(digest), std::string::npos)
              << to_string(Call{number}) << " by " << to_string(role) << " over "
              << to_string(transport) << ": " << said;
        }
      }
    }
  }
}

TEST_F(Secrets, AUserSeesNeitherCommandNorPathOfAnothersJob) {
  scheduler_.submit(job("eve"));
  const Identity ann{Role::User, "ann"};
  for (const Call call : {Call::ShowStatus, Call::FollowEvents, Call::AskWhatIf}) {
    for (const Transport transport : kTransports) {
      const Outcome outcome = ask(scheduler_, transport, ann, {.call = call, .job = 1});
      ASSERT_FALSE(outcome.error) << outcome.error->message;
      for (const char* hidden : {"argument-of-eve", "/home/eve", "name-of-eve"}) {
        EXPECT_EQ(outcome.text.find(hidden), std::string::npos)
            << to_string(call) << " over " << to_string(transport) << ": " << outcome.text;
      }
    }
  }
}

TEST_F(Secrets, AnOwnerSeesTheCommandOfHisJob) {
  scheduler_.submit(job("ann"));
  const Identity ann{Role::User, "ann"};
  for (const Call call : {Call::ShowStatus, Call::FollowEvents}) {
    for (const Transport transport : kTransports) {
      const Outcome outcome = ask(scheduler_, transport, ann, {.call = call, .job = 1});
      EXPECT_NE(outcome.text.find("argument-of-ann"), std::string::npos) << outcome.text;
    }
  }
}

}  // namespace
}  // namespace orrery
