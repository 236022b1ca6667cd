#include "live/codec/wire.h"

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>
#include <orrery/v1/agent.pb.h>
#include <orrery/v1/scheduler.pb.h>

#include <limits>
#include <memory>

#include "base/random.h"
#include "live/api/agent_words.h"
#include "live/api/api.h"
#include "live/codec/plain.h"

namespace orrery {
namespace {

// Random values of every struct. Each names all its members, so that a new one cannot be forgotten.
struct Filler {
  static void fill(Random& random, bool& v) { v = random.between(0, 1) == 1; }
  static void fill(Random& random, int& v) { v = static_cast<int>(random.between(1, 60)); }
  static void fill(Random& random, std::int64_t& v) { v = random.between(1, 1 << 20); }
  static void fill(Random& random, std::uint64_t& v) { v = random.bits(); }
  static void fill(Random& random, double& v) { v = random.uniform() * 1000; }
  static void fill(Random& random, Duration& v) {
    v = Duration(random.between(1, 1'000'000'000'000));
  }
  static void fill(Random& random, std::string& v) {
    static const char* const kLetters[] = {"a", "Z", " ", "\n", "\"", "\xc3\xa9", "\xe2\x82\xac"};
    v.clear();
    for (auto size = random.between(0, 12); size > 0; --size) v += kLetters[random.between(0, 6)];
  }
  static void fill_bytes(Random& random, std::string& v) {
    v.resize(static_cast<std::size_t>(random.between(0, 40)));
    for (char& byte : v) byte = static_cast<char>(random.bits());
  }
  static void fill(Random& random, JobState& v) { v = static_cast<JobState>(random.between(0, 6)); }
  static void fill(Random& random, LaunchState& v) {
    v = static_cast<LaunchState>(random.between(0, 3));
  }
  static void fill(Random& random, JobEnd::Kind& v) {
    v = static_cast<JobEnd::Kind>(random.between(0, 7));
  }
  static void fill(Random& random, LimitScope& v) {
    v = static_cast<LimitScope>(random.between(0, 3));
  }
  static void fill(Random& random, Caller::Role& v) {
    v = static_cast<Caller::Role>(random.between(0, 4));
  }
  static void fill(Random& random, std::pair<std::string, std::string>& v) {
    fill(random, v.first);
    fill(random, v.second);
  }
  static void fill(Random& random, std::map<std::string, std::string>& v) {
    for (auto size = random.between(0, 3); size > 0; --size) {
      std::pair<std::string, std::string> entry;
      fill(random, entry);
      v.insert(entry);
    }
  }
  static void each(Random& random, auto&... members) { (fill(random, members), ...); }

  static void fill(Random&, Nothing&) {}
  static void fill(Random& r, JobRequest& v) {
    // The last two are the scheduler's own, and do not travel.
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, s, t, u, w, x, y, z, array, timeout,
           errors, limit, signal, before, tmp, speeds, sensitivity] = v;
    each(r, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, s, t, u, w, x, y, z, array, timeout,
         errors, limit, signal, before, tmp);
  }
  static void fill(Random& r, SubmitRequest& v) {
    auto& [job, key] = v;
    each(r, job, key);
  }
  static void fill(Random& r, SubmitAnswer& v) {
    auto& [first, count, warnings] = v;
    each(r, first, count, warnings);
  }
  static void fill(Random& r, JobStatus& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, s, t, u, w, x, y, z, promised, late,
           broken, limit, ran, gpu_type, waits] = v;
    each(r, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, s, t, u, w, x, y, z, promised, late,
         broken, limit, ran, gpu_type, waits);
  }
  static void fill(Random& r, StatusRequest& v) {
    auto& [ids, finished, user, limit, predict] = v;
    each(r, ids, finished, user, limit, predict);
  }
  static void fill(Random& r, StatusAnswer& v) {
    auto& [now, policy, jobs, pending, running, settling] = v;
    each(r, now, policy, jobs, pending, running, settling);
  }
  static void fill(Random& r, CancelRequest& v) {
    auto& [ids] = v;
    each(r, ids);
  }
  static void fill(Random& r, CancelAnswer& v) {
    auto& [cancelled] = v;
    each(r, cancelled);
  }
  static void fill(Random& r, LogsRequest& v) {
    auto& [id, rank, offset, most, wait, errors, node] = v;
    each(r, id, rank, offset, most, wait, errors, node);
  }
  static void fill(Random& r, LogsAnswer& v) {
    auto& [bytes, next, ended, node] = v;
    fill_bytes(r, bytes);
    each(r, next, ended, node);
  }
  static void fill(Random& r, NodeStatus& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, zone, losses] = v;
    each(r, a, b, c, d, e, f, g, h, i, j, k, zone, losses);
  }
  static void fill(Random& r, NodesAnswer& v) {
    auto& [nodes] = v;
    each(r, nodes);
  }
  static void fill(Random& r, DrainRequest& v) {
    auto& [node, resume, now, lost, replace_log] = v;
    each(r, node, resume, now, lost, replace_log);
  }
  static void fill(Random& r, PolicyRequest& v) {
    auto& [policy, options] = v;
    each(r, policy, options);
  }
  static void fill(Random& r, QuotaRequest& v) {
    auto& [tenant, gpus, borrows] = v;
    each(r, tenant, gpus, borrows);
  }
  static void fill(Random& r, QuotaStatus& v) {
    auto& [tenant, gpus, held, borrows] = v;
    each(r, tenant, gpus, held, borrows);
  }
  static void fill(Random& r, QuotasAnswer& v) {
    auto& [quotas] = v;
    each(r, quotas);
  }
  static void fill(Random& r, TenantRequest& v) {
    auto& [tenant, add, remove, forget] = v;
    each(r, tenant, add, remove, forget);
  }
  static void fill(Random& r, TenantStatus& v) {
    auto& [tenant, members] = v;
    each(r, tenant, members);
  }
  static void fill(Random& r, TenantsAnswer& v) {
    auto& [tenants] = v;
    each(r, tenants);
  }
  static void fill(Random& r, Limits& v) {
    auto& [priority, gpus, pending, submissions] = v;
    each(r, priority, gpus, pending, submissions);
  }
  static void fill(Random& r, LimitsRequest& v) {
    auto& [scope, name, limits, inherit] = v;
    each(r, scope, name, limits, inherit);
  }
  static void fill(Random& r, LimitsStatus& v) {
    auto& [scope, name, limits, held, pending] = v;
    each(r, scope, name, limits, held, pending);
  }
  static void fill(Random& r, LimitsAnswer& v) {
    auto& [limits] = v;
    each(r, limits);
  }
  static void fill(Random& r, EventsRequest& v) {
    auto& [from, most, wait, record] = v;
    each(r, from, most, wait, record);
  }
  static void fill(Random& r, EventsAnswer& v) {
    auto& [lines, next] = v;
    each(r, lines, next);
  }
  static void fill(Random& r, WhatIfRequest& v) {
    auto& [job, nodes_more, policy] = v;
    each(r, job, nodes_more, policy);
  }
  static void fill(Random& r, WhatIfAnswer& v) {
    auto& [text, json] = v;
    each(r, text, json);
  }
  static void fill(Random& r, SituationAnswer& v) {
    auto& [json] = v;
    each(r, json);
  }
  static void fill(Random& r, TokenRequest& v) {
    auto& [role, name, valid, uses] = v;
    each(r, role, name, valid, uses);
  }
  static void fill(Random& r, TokenAnswer& v) {
    auto& [token] = v;
    each(r, token);
  }
  static void fill(Random& r, TokensRequest& v) {
    auto& [withdraw] = v;
    each(r, withdraw);
  }
  static void fill(Random& r, TokenStatus& v) {
    auto& [id, role, name, until, uses] = v;
    each(r, id, role, name, until, uses);
  }
  static void fill(Random& r, TokensAnswer& v) {
    auto& [tokens] = v;
    each(r, tokens);
  }
  static void fill(Random& r, CertificatesRequest& v) {
    auto& [serial, name, role] = v;
    each(r, serial, name, role);
  }
  static void fill(Random& r, CertificateStatus& v) {
    auto& [serial, role, name, from, until, revoked] = v;
    each(r, serial, role, name, from, until, revoked);
  }
  static void fill(Random& r, CertificatesAnswer& v) {
    auto& [certificates, revoked, withdrawn] = v;
    each(r, certificates, revoked, withdrawn);
  }
  static void fill(Random& r, RemoveNodeRequest& v) {
    auto& [node] = v;
    each(r, node);
  }
  static void fill(Random& r, JoinRequest& v) {
    auto& [token, name, request, role] = v;
    each(r, token, name, request, role);
  }
  static void fill(Random& r, JoinAnswer& v) {
    auto& [certificate, authority, port] = v;
    each(r, certificate, authority, port);
  }
  static void fill(Random& r, LaunchName& v) {
    auto& [job, epoch, rank] = v;
    each(r, job, epoch, rank);
  }
  static void fill(Random& r, NodeOffer& v) {
    auto& [a, b, c, d, e, f, g, only_user, zone, losses, fault] = v;
    each(r, a, b, c, d, e, f, g, only_user, zone, losses, fault);
  }
  static void fill(Random& r, JobEnd& v) {
    auto& [kind, exit_code, signal, message, ran] = v;
    each(r, kind, exit_code, signal, message, ran);
  }
  static void fill(Random& r, LaunchReport& v) {
    auto& [a, b, c, d, e, f, g, h, i] = v;
    each(r, a, b, c, d, e, f, g, h, i);
  }
  static void fill(Random& r, LogPiece& v) {
    auto& [request, bytes, offset, ended, error] = v;
    fill_bytes(r, bytes);
    each(r, request, offset, ended, error);
  }
  static void fill(Random& r, Report& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = v;
    each(r, a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  }
  static void fill(Random& r, Assignment& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, s, t, u, timeout, w, x, y, z, before,
           tmp] = v;
    each(r, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, s, t, u, timeout, w, x, y, z, before,
         tmp);
  }
  static void fill(Random& r, StopOrder& v) {
    auto& [launch, at, reason, gpus, ranks] = v;
    each(r, launch, at, reason, gpus, ranks);
  }
  static void fill(Random& r, LogRequest& v) {
    auto& [a, b, c, d, e, f, g, h] = v;
    each(r, a, b, c, d, e, f, g, h);
  }
  static void fill(Random& r, Orders& v) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = v;
    each(r, a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  }
  template <class Value>
  static void fill(Random& random, std::vector<Value>& v) {
    v.resize(static_cast<std::size_t>(random.between(0, 3)));
    for (Value& value : v) fill(random, value);
  }
  template <class Value>
  static void fill(Random& random, std::optional<Value>& v) {
    v.reset();
    if (random.between(0, 1) == 1) fill(random, v.emplace());
  }
};

template <class Value, class Message>
void expect_round_trips() {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    Value value{};
    Filler::fill(random, value);
    Message sent;
    write_wire(value, sent);
    Message received;
    ASSERT_TRUE(received.ParseFromString(sent.SerializeAsString()));
    const auto back = read_wire<Value>(received);
    ASSERT_TRUE(back.ok()) << back.error().message << " in " << sent.ShortDebugString();
    ASSERT_TRUE(back.value() == value) << "seed " << seed << ": " << sent.ShortDebugString();
  }
}

TEST(Wire, WhatClientsSayComesBackAsItWas) {
  expect_round_trips<Nothing, v1::Nothing>();
  expect_round_trips<JobRequest, v1::JobRequest>();
  expect_round_trips<SubmitRequest, v1::SubmitRequest>();
  expect_round_trips<SubmitAnswer, v1::SubmitAnswer>();
  expect_round_trips<JobStatus, v1::JobStatus>();
  expect_round_trips<StatusRequest, v1::StatusRequest>();
  expect_round_trips<StatusAnswer, v1::StatusAnswer>();
  expect_round_trips<CancelRequest, v1::CancelRequest>();
  expect_round_trips<CancelAnswer, v1::CancelAnswer>();
  expect_round_trips<LogsRequest, v1::LogsRequest>();
  expect_round_trips<LogsAnswer, v1::LogsAnswer>();
  expect_round_trips<NodeStatus, v1::NodeStatus>();
  expect_round_trips<NodesAnswer, v1::NodesAnswer>();
  expect_round_trips<DrainRequest, v1::DrainRequest>();
  expect_round_trips<PolicyRequest, v1::PolicyRequest>();
  expect_round_trips<QuotaRequest, v1::QuotaRequest>();
  expect_round_trips<QuotaStatus, v1::QuotaStatus>();
  expect_round_trips<QuotasAnswer, v1::QuotasAnswer>();
  expect_round_trips<TenantRequest, v1::TenantRequest>();
  expect_round_trips<TenantsAnswer, v1::TenantsAnswer>();
  expect_round_trips<LimitsRequest, v1::LimitsRequest>();
  expect_round_trips<LimitsAnswer, v1::LimitsAnswer>();
  expect_round_trips<EventsRequest, v1::EventsRequest>();
  expect_round_trips<EventsAnswer, v1::EventsAnswer>();
  expect_round_trips<WhatIfRequest, v1::WhatIfRequest>();
  expect_round_trips<WhatIfAnswer, v1::WhatIfAnswer>();
  expect_round_trips<SituationAnswer, v1::SituationAnswer>();
  expect_round_trips<TokenRequest, v1::TokenRequest>();
  expect_round_trips<TokensRequest, v1::TokensRequest>();
  expect_round_trips<TokensAnswer, v1::TokensAnswer>();
  expect_round_trips<CertificatesRequest, v1::CertificatesRequest>();
  expect_round_trips<CertificatesAnswer, v1::CertificatesAnswer>();
  expect_round_trips<RemoveNodeRequest, v1::RemoveNodeRequest>();
  expect_round_trips<TokenAnswer, v1::TokenAnswer>();
  expect_round_trips<JoinRequest, v1::JoinRequest>();
  expect_round_trips<JoinAnswer, v1::JoinAnswer>();
}

template <class Request, class Message>
void expect_plain_is_read() {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    Request request{};
    Filler::fill(random, request);
    std::string bytes;
    append_plain(request, bytes);
    Message received;
    ASSERT_TRUE(received.ParseFromString(bytes)) << "seed " << seed;
    ASSERT_TRUE(received.GetReflection()->GetUnknownFields(received).empty()) << "seed " << seed;
    const auto back = read_wire<Request>(received);
    ASSERT_TRUE(back.ok()) << back.error().message << " in " << received.ShortDebugString();
    ASSERT_TRUE(back.value() == request) << "seed " << seed << ": " << received.ShortDebugString();
  }
}

template <class Answer, class Message>
void expect_read_plain() {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    Answer answer{};
    Filler::fill(random, answer);
    Message sent;
    write_wire(answer, sent);
    const std::string bytes = sent.SerializeAsString();
    const auto back = read_plain<Answer>(bytes);
    ASSERT_TRUE(back.ok()) << sent.ShortDebugString();
    ASSERT_TRUE(back.value() == answer) << "seed " << seed << ": " << sent.ShortDebugString();
    // Cut anywhere it is read or refused, and nothing else.
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto cut = read_plain<Answer>(std::string_view(bytes).substr(0, size));
      ASSERT_TRUE(cut.ok() || cut.error().code == Code::InvalidArgument);
    }
  }
}

TEST(PlainWire, WritesTheBytesThatTheLibraryReads) {
  expect_plain_is_read<Nothing, v1::Nothing>();
  expect_plain_is_read<SubmitRequest, v1::SubmitRequest>();
  expect_plain_is_read<StatusRequest, v1::StatusRequest>();
  expect_plain_is_read<CancelRequest, v1::CancelRequest>();
  expect_plain_is_read<LogsRequest, v1::LogsRequest>();
  expect_plain_is_read<DrainRequest, v1::DrainRequest>();
  expect_plain_is_read<PolicyRequest, v1::PolicyRequest>();
  expect_plain_is_read<QuotaRequest, v1::QuotaRequest>();
  expect_plain_is_read<EventsRequest, v1::EventsRequest>();
  expect_plain_is_read<WhatIfRequest, v1::WhatIfRequest>();
  expect_plain_is_read<TokenRequest, v1::TokenRequest>();
  expect_plain_is_read<TokensRequest, v1::TokensRequest>();
  expect_plain_is_read<CertificatesRequest, v1::CertificatesRequest>();
  expect_plain_is_read<RemoveNodeRequest, v1::RemoveNodeRequest>();
}

TEST(PlainWire, ReadsTheBytesThatTheLibraryWrites) {
  expect_read_plain<Nothing, v1::Nothing>();
  expect_read_plain<SubmitAnswer, v1::SubmitAnswer>();
  expect_read_plain<StatusAnswer, v1::StatusAnswer>();
  expect_read_plain<CancelAnswer, v1::CancelAnswer>();
  expect_read_plain<LogsAnswer, v1::LogsAnswer>();
  expect_read_plain<NodesAnswer, v1::NodesAnswer>();
  expect_read_plain<QuotasAnswer, v1::QuotasAnswer>();
  expect_read_plain<EventsAnswer, v1::EventsAnswer>();
  expect_read_plain<WhatIfAnswer, v1::WhatIfAnswer>();
  expect_read_plain<SituationAnswer, v1::SituationAnswer>();
  expect_read_plain<TokensAnswer, v1::TokensAnswer>();
  expect_read_plain<CertificatesAnswer, v1::CertificatesAnswer>();
  expect_read_plain<TokenAnswer, v1::TokenAnswer>();
}

TEST(PlainWire, AnEmptyRequestIsTheUsualOne) {
  std::string bytes;
  append_plain(SubmitRequest{}, bytes);
  v1::SubmitRequest received;
  ASSERT_TRUE(received.ParseFromString(bytes));
  EXPECT_EQ(read_wire<SubmitRequest>(received).value(), SubmitRequest{});
  EXPECT_EQ(read_plain<SubmitAnswer>("").value(), SubmitAnswer{});
}

TEST(PlainWire, TextIsMadeUtf8) {
  std::string bytes;
  append_plain(SubmitRequest{.job = {.argv = {"a\xff"}}}, bytes);
  v1::SubmitRequest received;
  ASSERT_TRUE(received.ParseFromString(bytes));
  EXPECT_EQ(received.job().argv(0), "a\xef\xbf\xbd");
}

TEST(PlainWire, UnknownFieldsAreSkipped) {
  v1::SubmitAnswer sent;
  sent.set_first(7);
  google::protobuf::UnknownFieldSet* more = sent.GetReflection()->MutableUnknownFields(&sent);
  more->AddVarint(90, 1);
  more->AddFixed32(91, 2);
  more->AddFixed64(92, 3);
  more->AddLengthDelimited(93, "later");
  EXPECT_EQ(read_plain<SubmitAnswer>(sent.SerializeAsString()).value().first, 7);
}

TEST(Wire, WhatAgentsSayComesBackAsItWas) {
  expect_round_trips<LaunchName, v1::LaunchName>();
  expect_round_trips<NodeOffer, v1::NodeOffer>();
  expect_round_trips<JobEnd, v1::JobEnd>();
  expect_round_trips<LaunchReport, v1::LaunchReport>();
  expect_round_trips<LogPiece, v1::LogPiece>();
  expect_round_trips<Report, v1::Report>();
  expect_round_trips<Assignment, v1::Assignment>();
  expect_round_trips<StopOrder, v1::StopOrder>();
  expect_round_trips<LogRequest, v1::LogRequest>();
  expect_round_trips<Orders, v1::Orders>();
}

template <class Value>
std::string refusal(const google::protobuf::Message& message) {
  const auto read = read_wire<Value>(message);
  if (read.ok()) return "was taken";
  EXPECT_EQ(read.error().code, Code::InvalidArgument);
  return read.error().message;
}

TEST(Wire, WhatIsLeftOutOfARequestIsAsUsual) {
  EXPECT_EQ(read_wire<JobRequest>(v1::JobRequest()).value(), JobRequest{});
  EXPECT_EQ(read_wire<SubmitRequest>(v1::SubmitRequest()).value(), SubmitRequest{});
  EXPECT_EQ(read_wire<StatusRequest>(v1::StatusRequest()).value(), StatusRequest{});
  EXPECT_EQ(read_wire<LogsRequest>(v1::LogsRequest()).value(), LogsRequest{});
  EXPECT_EQ(read_wire<EventsRequest>(v1::EventsRequest()).value(), EventsRequest{});
  EXPECT_EQ(read_wire<QuotaRequest>(v1::QuotaRequest()).value(), QuotaRequest{});
  EXPECT_EQ(read_wire<WhatIfRequest>(v1::WhatIfRequest()).value(), WhatIfRequest{});
  EXPECT_EQ(read_wire<TokenRequest>(v1::TokenRequest()).value(), TokenRequest{});
  EXPECT_EQ(read_wire<LaunchReport>(v1::LaunchReport()).value().iteration, -1);
}

TEST(Wire, AValueThatIsNoEnumeratorIsRefused) {
  v1::Report report;
  report.add_launches()->set_state(static_cast<v1::LaunchReport::State>(9));
  EXPECT_EQ(refusal<Report>(report),
            "launches.state: 9 is no State; there are Waiting, Running, Stopping, Ended");
  v1::TokenRequest token;
  token.set_role(static_cast<v1::Caller::Role>(-1));
  EXPECT_EQ(refusal<TokenRequest>(token),
            "role: -1 is no Role; there are User, Operator, Agent, Admin, Scraper");
}

TEST(Wire, AListThatIsTooLongIsRefused) {
  v1::SubmitRequest request;
  for (int i = 0; i <= static_cast<int>(kArrayMax); ++i) request.mutable_job()->add_array(i);
  EXPECT_EQ(refusal<SubmitRequest>(request), "job.array: 100001 entries; at most 100000 are taken");
  v1::PolicyRequest policy;
  for (int i = 0; i < 1001; ++i) (*policy.mutable_options())[std::to_string(i)] = "x";
  EXPECT_EQ(refusal<PolicyRequest>(policy), "options: 1001 entries; at most 1000 are taken");
}

TEST(Wire, ANumberOutOfItsBoundsIsRefused) {
  v1::Report report;
  report.mutable_offer()->set_gpus(65);
  EXPECT_EQ(refusal<Report>(report), "offer.gpus: 65 is above 64");
  v1::Orders orders;
  EXPECT_EQ(refusal<Orders>(orders), "was taken");
  orders.add_assignments();
  EXPECT_EQ(refusal<Orders>(orders), "assignments.ranks: 0 is below 1");
  v1::LogsRequest logs;
  logs.set_wait_ns(-1);
  EXPECT_EQ(refusal<LogsRequest>(logs), "wait_ns: -1 is below 0");
  v1::LaunchReport launch;
  launch.set_iteration(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(refusal<LaunchReport>(launch), "iteration: write a finite number");
}

TEST(Wire, TextIsMadeUtf8AndBytesStayAsTheyAre) {
  v1::LogPiece piece;
  write_wire(LogPiece{.bytes = "\xff\xfe", .error = "a\xff\xe2\x82z"}, piece);
  EXPECT_EQ(piece.bytes(), "\xff\xfe");
  EXPECT_EQ(piece.error(), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
}

}  // namespace
}  // namespace orrery
