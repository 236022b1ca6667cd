#include "cloud/gce/token_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cloud/gce/answers.h"
#include "cloud/gce/faults.h"
#include "cloud/gce/timestamp.h"

namespace orrery {
namespace {

constexpr Duration kBeforeEnd = std::chrono::seconds(60);
constexpr std::string_view kGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr std::string_view kMetadataPath =
    "/computeMetadata/v1/instance/service-accounts/default/token";

}  // namespace

std::string clock_fault(const GceExchange& made, Time now) {
  const auto theirs = http_date(made.date);
  if (!theirs) return {};
  const double skew_s = seconds(now - *theirs);
  if (std::abs(skew_s) <= 60) return {};
  return fmt::format(
      "the clock of this machine is {:.0f} s {} the provider's; set it (`timedatectl set-ntp "
      "true`)",
      std::abs(skew_s), skew_s > 0 ? "ahead of" : "behind");
}

Result<std::unique_ptr<TokenSource>> TokenSource::make(GceIdentity identity,
                                                       const GceContext& context) {
  GceHost host;
  host.url = identity.key ? split_url(identity.key->token_url).first : identity.metadata_url;
  host.authorities = identity.authorities;
  host.answer_bytes_max = std::size_t{1} << 20;
  host.read_s = 30;
  TRY_ASSIGN(auto transport, transport_to(host));
  return std::unique_ptr<TokenSource>(
      new TokenSource(std::move(identity), std::move(transport), context));
}

TokenSource::TokenSource(GceIdentity identity, std::unique_ptr<GceTransport> host,
                         const GceContext& context)
    : identity_(std::move(identity)), host_(std::move(host)), context_(context) {
  if (identity_.key) secrets_.add_for_ever(identity_.key->private_key);
}

Result<GceCall> TokenSource::call() {
  GceCall call;
  if (!identity_.key) {
    call.path = kMetadataPath;
    call.headers = {{"Metadata-Flavor", "Google"}};
    return call;
  }
  TRY_ASSIGN(const std::string assertion,
             sign_assertion(*identity_.key, identity_.scope, context_.clock.now()));
  secrets_.add(assertion);
  call.method = "POST";
  call.path = split_url(identity_.key->token_url).second;
  call.content_type = "application/x-www-form-urlencoded";
  call.body = fmt::format("grant_type={}&assertion={}", percent_encoded(kGrant), assertion);
  return call;
}

Result<std::string> TokenSource::token() {
  if (!token_.empty() && context_.clock.now() + kBeforeEnd < ends_) return token_;
  Backoff backoff(context_.backoff, context_.random);
  for (;;) {
    TRY_ASSIGN(const GceCall asked, call());
    const Time sent = context_.clock.now();
    const GceExchange made = host_->exchange(asked);
    if (made.delivery == Delivery::Untrusted) return silence(made);
    const bool answered = made.delivery == Delivery::Answered;
    if (answered && made.status == 200) {
      if (auto read = read_access_token(made.body); read.ok()) {
        token_ = read.value().text;
        secrets_.add(token_);
        ends_ = sent + read.value().life;
        return token_;
      }
    } else if (answered && !may_be_repeated(made.status, read_fault(made.body))) {
      return refusal(made);
    }
    const auto pause = backoff.next(made.retry_after);
    if (!pause) return silence(made);
    context_.clock.wait(*pause);
  }
}

Error TokenSource::refusal(const GceExchange& made) const {
  const GceFault fault = without_secrets(read_fault(made.body), secrets_);
  const std::string clock = clock_fault(made, context_.clock.now());
  if (!clock.empty()) return {Code::Unauthenticated, "no token: " + clock};
  const std::string said = error_of(made.status, fault).message;
  if (fault.message.find("iat") != std::string::npos) {
    return {Code::Unauthenticated,
            fmt::format("no token: {}; the clock of this machine may be wrong", said)};
  }
  return {Code::Unauthenticated, "no token: " + said};
}

Error TokenSource::silence(const GceExchange& made) const {
  const std::string why =
      made.delivery == Delivery::Answered ? fmt::format("status {}", made.status) : made.fault;
  const Code code =
      made.delivery == Delivery::Untrusted ? Code::Unauthenticated : Code::Unavailable;
  if (identity_.key) {
    return {code, fmt::format("no token: {} ({})", split_url(identity_.key->token_url).first, why)};
  }
  return {code, fmt::format("no token: {} ({}); on a machine outside Compute Engine give the key "
                            "file of a service account",
                            identity_.metadata_url, why)};
}

}  // namespace orrery
