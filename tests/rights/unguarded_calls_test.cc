// No transport carries a call that the table does not guard. An agent may call none of these, so
// each of them must be denied to it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <orrery/v1/scheduler.pb.h>

#include <algorithm>
#include <future>
#include <map>

#include "live/rpc/rest_calls.h"
#include "live/unix_socket/calls.h"
#include "rights/transports.h"

namespace orrery {
namespace {

const Identity kAgent{Role::Agent, "node1"};

TEST(UnguardedCalls, TheSocketHasNone) {
  TestScheduler scheduler;
  int calls = 0;
  for (int number = 0; number < 256; ++number) {
    std::promise<std::string> answered;
    answer_frame(scheduler.server(), caller_for(kAgent),
                 {.word = static_cast<std::uint8_t>(number)},
                 [&](std::string frame) { answered.set_value(std::move(frame)); });
    FrameReader reader(1 << 20);
    reader.take(answered.get_future().get());
    const auto frame = reader.next();
    ASSERT_TRUE(frame.ok() && frame.value());
    const Code code{frame.value()->word};
    if (code == Code::Unimplemented) continue;
    ++calls;
    EXPECT_EQ(code, Code::PermissionDenied) << number << ": " << frame.value()->body;
  }
  EXPECT_GE(calls, 20);
}

TEST(UnguardedCalls, RestHasNone) {
  TestScheduler scheduler;
  for (RestPath each : rest_paths()) {
    if (each.path == "/v1/join") continue;  // needs no certificate
    // Every star may be a job's number.
    for (auto star = each.path.find('*'); star != std::string::npos; star = each.path.find('*')) {
      each.path[star] = '1';
    }
    const auto reply = scheduler.by_rest(kAgent, each.method, each.path, "{}");
    EXPECT_EQ(reply.status, 403) << each.method << " " << each.path << ": " << reply.body;
  }
}

// What each call of gRPC is in the table. tests/rights asks these through the client.
TEST(UnguardedCalls, GrpcCarriesTheseAndNoOthers) {
  const std::map<std::string, Call> known = {
      {"Submit", Call::Submit},        {"Status", Call::ShowStatus},
      {"Cancel", Call::Cancel},        {"Logs", Call::ReadLogs},
      {"Nodes", Call::ShowNodes},      {"Drain", Call::Drain},
      {"SetPolicy", Call::SetPolicy},  {"SetQuota", Call::SetQuota},
      {"Quotas", Call::ShowQuotas},    {"SetTenant", Call::SetTenant},
      {"Tenants", Call::ShowTenants},  {"SetLimits", Call::SetLimits},
      {"Limits", Call::ShowLimits},    {"Events", Call::FollowEvents},
      {"WhatIf", Call::AskWhatIf},     {"Situation", Call::AskWhatIf},
      {"MakeToken", Call::MakeToken},  {"Join", Call::Join},
      {"Tokens", Call::ManageTokens},  {"Certificates", Call::ManageCertificates},
      {"RemoveNode", Call::RemoveNode}};
  const auto* service = v1::SubmitRequest::descriptor()->file()->FindServiceByName("Scheduler");
  ASSERT_NE(service, nullptr);
  for (int i = 0; i < service->method_count(); ++i) {
    EXPECT_TRUE(known.contains(service->method(i)->name()))
        << service->method(i)->name() << ": ask it in tests/rights/transports.cc";
  }
}

}  // namespace
}  // namespace orrery
