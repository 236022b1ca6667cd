#include "live/unix_socket/client.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "live/codec/plain.h"
#include "live/unix_socket/socket.h"

namespace orrery {
namespace {

constexpr std::size_t kPiece = 64 * 1024;

Duration now() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

Status without_answer(const Result<Nothing>& result) {
  if (!result.ok()) return result.error();
  return {};
}

bool is_code(int number) {
  return number >= static_cast<int>(Code::Cancelled) &&
         number <= static_cast<int>(Code::Unauthenticated);
}

}  // namespace

Status UnixSocketClient::connect() {
  const auto unavailable = [&](std::string_view why) {
    return Error{Code::Unavailable, fmt::format("{}: {}", options_.path, why)};
  };
  auto made = connect_to(options_.path);
  if (!made.ok()) {
    return Error{Code::Unavailable,
                 made.error().message + "; see whether `orrery serve` runs there"};
  }
  TRY_ASSIGN(const uid_t server, peer_uid(made.value()));
  struct stat folder {};
  const std::string above = options_.path.substr(0, options_.path.rfind('/') + 1);
  if (::stat(above.empty() ? "." : above.c_str(), &folder) != 0) {
    return unavailable(std::strerror(errno));
  }
  if (server != 0 && server != folder.st_uid) {
    return unavailable("the process that listens there does not own the folder");
  }
  fd_ = std::move(made).value();
  return {};
}

Error UnixSocketClient::lost(std::string_view why) {
  fd_.close();
  return {Code::Unavailable,
          fmt::format("{}: the scheduler does not answer ({})", options_.path, why)};
}

Status UnixSocketClient::wait_for(short events, Duration until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now()).count();
  pollfd wanted{.fd = fd_.get(), .events = events, .revents = 0};
  const int ready = ::poll(&wanted, 1, static_cast<int>(std::clamp<long>(left, 0, 1 << 30)));
  if (ready > 0) return {};
  // A signal ends the call for its caller: the answer may take long.
  if (ready < 0) return lost(std::strerror(errno));
  fd_.close();
  return Error{
      Code::DeadlineExceeded,
      fmt::format("{}: no answer within the time allowed; the scheduler is busy", options_.path)};
}

Result<Frame> UnixSocketClient::exchange(std::string_view bytes, Duration longest) {
  if (!fd_.ok()) TRY(connect());
  const Duration until = now() + std::clamp<Duration>(longest, Duration(0), std::chrono::hours(24));
  while (!bytes.empty()) {
    const ssize_t size = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno == EAGAIN) {
      TRY(wait_for(POLLOUT, until));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      break;  // it may have said why
    } else if (errno != EINTR) {
      return lost(std::strerror(errno));
    }
  }
  FrameReader reader(options_.answer_bytes_max);
  const auto piece = std::make_unique_for_overwrite<char[]>(kPiece);
  while (true) {
    const ssize_t size = ::recv(fd_.get(), piece.get(), kPiece, MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) {
      TRY(wait_for(POLLIN, until));
      continue;
    }
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return lost(std::strerror(errno));
    if (size == 0) return lost("it has hung up");
    reader.take({piece.get(), static_cast<std::size_t>(size)});
    auto frame = reader.next();
    if (!frame.ok()) {
      fd_.close();
      return std::move(frame).error().at(options_.path);
    }
    if (frame.value()) return *std::move(frame).value();
  }
}

template <class Answer, class Request>
Result<Answer> UnixSocketClient::call(UnixSocketCall which, const Request& request) {
  Duration longest = options_.deadline;
  if constexpr (requires { request.wait; }) longest += request.wait;
  std::string bytes = open_frame(static_cast<std::uint8_t>(which));
  append_plain(request, bytes);
  close_frame(bytes);
  TRY_ASSIGN(const Frame answer, exchange(bytes, longest));
  if (is_code(answer.word)) return Error{static_cast<Code>(answer.word), answer.body};
  auto read = answer.word == 0 ? read_plain<Answer>(answer.body)
                               : Result<Answer>(invalid("its word is none"));
  if (read.ok()) return read;
  fd_.close();
  return Error{Code::Internal, fmt::format("{}: {}", options_.path, read.error().message)};
}

Result<SubmitAnswer> UnixSocketClient::submit(const SubmitRequest& request) {
  return call<SubmitAnswer>(UnixSocketCall::Submit, request);
}
Result<StatusAnswer> UnixSocketClient::status(const StatusRequest& request) {
  return call<StatusAnswer>(UnixSocketCall::ShowStatus, request);
}
Result<CancelAnswer> UnixSocketClient::cancel(const CancelRequest& request) {
  return call<CancelAnswer>(UnixSocketCall::Cancel, request);
}
Result<LogsAnswer> UnixSocketClient::logs(const LogsRequest& request) {
  return call<LogsAnswer>(UnixSocketCall::Logs, request);
}
Result<NodesAnswer> UnixSocketClient::nodes() {
  return call<NodesAnswer>(UnixSocketCall::Nodes, Nothing{});
}
Status UnixSocketClient::drain(const DrainRequest& request) {
  return without_answer(call<Nothing>(UnixSocketCall::Drain, request));
}
Status UnixSocketClient::set_policy(const PolicyRequest& request) {
  return without_answer(call<Nothing>(UnixSocketCall::SetPolicy, request));
}
Status UnixSocketClient::set_quota(const QuotaRequest& request) {
  return without_answer(call<Nothing>(UnixSocketCall::SetQuota, request));
}
Result<QuotasAnswer> UnixSocketClient::quotas() {
  return call<QuotasAnswer>(UnixSocketCall::Quotas, Nothing{});
}
Status UnixSocketClient::set_tenant(const TenantRequest& request) {
  return without_answer(call<Nothing>(UnixSocketCall::SetTenant, request));
}
Result<TenantsAnswer> UnixSocketClient::tenants() {
  return call<TenantsAnswer>(UnixSocketCall::Tenants, Nothing{});
}
Status UnixSocketClient::set_limits(const LimitsRequest& request) {
  return without_answer(call<Nothing>(UnixSocketCall::SetLimits, request));
}
Result<LimitsAnswer> UnixSocketClient::limits() {
  return call<LimitsAnswer>(UnixSocketCall::Limits, Nothing{});
}
Result<EventsAnswer> UnixSocketClient::events(const EventsRequest& request) {
  return call<EventsAnswer>(UnixSocketCall::Events, request);
}
Result<WhatIfAnswer> UnixSocketClient::what_if(const WhatIfRequest& request) {
  return call<WhatIfAnswer>(UnixSocketCall::WhatIf, request);
}
Result<SituationAnswer> UnixSocketClient::situation() {
  return call<SituationAnswer>(UnixSocketCall::Situation, Nothing{});
}
Result<TokensAnswer> UnixSocketClient::tokens(const TokensRequest& request) {
  return call<TokensAnswer>(UnixSocketCall::Tokens, request);
}
Result<CertificatesAnswer> UnixSocketClient::certificates(const CertificatesRequest& request) {
  return call<CertificatesAnswer>(UnixSocketCall::Certificates, request);
}
Status UnixSocketClient::remove_node(const RemoveNodeRequest& request) {
  return without_answer(call<Nothing>(UnixSocketCall::RemoveNode, request));
}
Result<TokenAnswer> UnixSocketClient::make_token(const TokenRequest& request) {
  return call<TokenAnswer>(UnixSocketCall::MakeToken, request);
}
Result<JoinAnswer> UnixSocketClient::join(const JoinRequest&) {
  return Error{Code::Unimplemented, "joining needs the scheduler's address; write --server"};
}

}  // namespace orrery
