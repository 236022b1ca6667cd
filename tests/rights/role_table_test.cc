// The table of calls against the running scheduler: every call, every role, every owner, over every
// transport.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rights/transports.h"

namespace orrery {
namespace {

Identity caller_of_role(Role role) {
  switch (role) {
    case Role::User:
      return {role, "ann"};
    case Role::Operator:
      return {role, "otto"};
    case Role::Agent:
      return {role, "node1"};
    case Role::Scraper:
      return {role, "prometheus"};
    case Role::Admin:
      return kAdmin;
  }
  return {};
}

// A job of `owner` in the tenant of ann, otto and mat.
JobNumber job_of(TestScheduler& scheduler, const std::string& owner) {
  return scheduler.submit(
      {.argv = {"train"}, .user = owner, .tenant = owner == "eve" ? "nlp" : "vision"});
}

TEST(RoleTable, EveryCallByEveryRoleAboutEveryOwnerIsAnsweredAsTheTableSays) {
  TestScheduler scheduler;
  // A tenant of-ann with the member ann, and so on.
  for (const char* owner : {"ann", "otto", "node1", "root", "mat", "eve"}) {
    const std::string tenant = std::string("of-") + owner;
    const auto admin = scheduler.by_socket(kAdmin);
    ASSERT_TRUE(admin->set_tenant({.tenant = tenant, .add = {owner}}).ok());
  }
  int asked = 0;
  for (int number = 0; number < kCalls; ++number) {
    const Call call{number};
    for (const Role role : kRoles) {
      const Identity caller = caller_of_role(role);
      for (const std::string& owner : {caller.name, std::string("mat"), std::string("eve")}) {
        if (owner != caller.name && !has_owner(call)) continue;
        int carried = 0;
        for (const Transport transport : kTransports) {
          const Question question{
              .call = call, .owner = owner, .job = has_owner(call) ? job_of(scheduler, owner) : 0};
          const Outcome outcome = ask(scheduler, transport, caller, question);
          if (!outcome.carried) continue;
          ++carried;
          ++asked;
          const std::string_view object = has_owner(call) ? std::string_view(owner) : "";
          EXPECT_EQ(!outcome.denied(), may(caller, call, object))
              << to_string(call) << " by " << to_string(role) << " about " << owner << " over "
              << to_string(transport) << ": " << (outcome.error ? outcome.error->message : "done");
        }
        EXPECT_GT(carried, 0) << to_string(call) << " is reached by no transport";
      }
    }
  }
  EXPECT_GT(asked, 10 * kCalls);
}

}  // namespace
}  // namespace orrery
