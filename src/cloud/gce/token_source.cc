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

void blot_out(std::string& text, std::string_view secret) {
  if (secret.size() < 8) return;
  constexpr std::string_view kBlot = "(secret)";
  for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
    text.replace(at, secret.size(), kBlot);
    at += kBlot.size();
  }
}

}  // namespace

std::string clock_fault(const GceExchange& made, Time now) {
  const auto theirs = http_date(made.date);
  if (!theirs) return {};
  const double ahead_s = seconds(now - *theirs);
  if (std::abs(ahead_s) <= 60) return {};
  return fmt::format(
      "the clock of this machine is {:.0f} s {} the provider's; set it (`timedatectl set-ntp "
      "true`)",
      std::abs(ahead_s), ahead_s > 0 ? "ahead of" : "behind");
}

Result<std::unique_ptr<TokenSource>> TokenSource::make(GceIdentity identity,
                                                       const GceSurroundings& around) {
  GceHost host;
  host.url = identity.key ? split_url(identity.key->token_url).first : identity.metadata_url;
  host.authorities = identity.authorities;
  host.answer_bytes_max = std::size_t{1} << 20;
  host.read_s = 30;
  TRY_ASSIGN(auto transport, transport_to(host));
  return std::unique_ptr<TokenSource>(
      new TokenSource(std::move(identity), std::move(transport), around));
}

TokenSource::TokenSource(GceIdentity identity, std::unique_ptr<GceTransport> host,
                         const GceSurroundings& around)
    : identity_(std::move(identity)), host_(std::move(host)), around_(around) {}

Result<GceCall> TokenSource::call() {
  GceCall call;
  if (!identity_.key) {
    call.path = kMetadataPath;
    call.headers = {{"Metadata-Flavor", "Google"}};
    return call;
  }
  TRY_ASSIGN(assertion_, sign_assertion(*identity_.key, identity_.scope, around_.clock.now()));
  call.method = "POST";
  call.path = split_url(identity_.key->token_url).second;
  call.content_type = "application/x-www-form-urlencoded";
  call.body = fmt::format("grant_type={}&assertion={}", percent_encoded(kGrant), assertion_);
  return call;
}

Result<std::string> TokenSource::token() {
  if (!token_.empty() && around_.clock.now() + kBeforeEnd < ends_) return token_;
  Backoff backoff(around_.backoff, around_.random);
  for (;;) {
    TRY_ASSIGN(const GceCall asked, call());
    const Time sent = around_.clock.now();
    const GceExchange made = host_->exchange(asked);
    if (made.delivery == Delivery::Untrusted) return silence(made);
    const bool answered = made.delivery == Delivery::Answered;
    if (answered && made.status == 200) {
      if (auto read = read_access_token(made.body); read.ok()) {
        token_ = last_token_ = read.value().text;
        ends_ = sent + read.value().life;
        return token_;
      }
    } else if (answered && !may_be_repeated(made.status, read_fault(made.body))) {
      return refusal(made);
    }
    const auto pause = backoff.next(made.retry_after);
    if (!pause) return silence(made);
    around_.clock.wait(*pause);
  }
}

Error TokenSource::refusal(const GceExchange& made) const {
  const GceFault fault = read_fault(without_secrets(made.body));
  const std::string clock = clock_fault(made, around_.clock.now());
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

std::string TokenSource::without_secrets(std::string text) const {
  blot_out(text, last_token_);
  blot_out(text, assertion_);
  // The signature alone is as good a secret as the whole.
  if (const auto dot = assertion_.rfind('.'); dot != std::string::npos) {
    blot_out(text, std::string_view(assertion_).substr(dot + 1));
  }
  if (!identity_.key) return text;
  // Whole, and line by line: a message has no line ends.
  const std::string_view key = identity_.key->private_key;
  blot_out(text, key);
  for (std::size_t at = 0; at < key.size();) {
    const std::size_t end = std::min(key.find('\n', at), key.size());
    if (!key.substr(at, end - at).starts_with("-----")) blot_out(text, key.substr(at, end - at));
    at = end + 1;
  }
  return text;
}

}  // namespace orrery
