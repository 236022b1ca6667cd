#include "live/rpc/diagnosis.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <optional>

#include "live/rpc/http_tls.h"
#include "live/rpc/https_client.h"
#include "live/rpc/openssl_handles.h"
#include "live/rpc/seen_server.h"

namespace orrery {
namespace {

constexpr const char* kJoinAgain = "ask an admin for a token and run `orrery join` again";

std::string name_in(const X509* certificate) {
  char name[100] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
  return name;
}

std::string utc(const ASN1_TIME* time) {
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "?";
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", parts);
}

// "expired on ..." or "is not valid before ..."; nothing where it is valid by this clock.
std::optional<std::string> wrong_time(const X509* certificate) {
  const ASN1_TIME* const from = X509_get0_notBefore(certificate);
  const ASN1_TIME* const until = X509_get0_notAfter(certificate);
  if (X509_cmp_current_time(until) < 0) return "expired on " + utc(until);
  if (X509_cmp_current_time(from) > 0) return "is not valid before " + utc(from);
  return std::nullopt;
}

bool names_host(X509* certificate, const std::string& host) {
  return X509_check_ip_asc(certificate, host.c_str(), 0) == 1 ||
         X509_check_host(certificate, host.data(), host.size(), 0, nullptr) == 1;
}

std::optional<Error> wrong_with_server(const ClientOptions& options, const SeenServer& seen) {
  const std::string& address = options.address;
  if (!seen.grpc) {
    return invalid(
        fmt::format("{} is the scheduler's HTTPS port; write its gRPC port, which "
                    "`orrery serve` prints",
                    address));
  }
  const Openssl<X509> authority = first_certificate(options.tls->authority);
  const Openssl<X509> server = first_certificate(seen.certificate);
  if (authority == nullptr || server == nullptr ||
      X509_verify(server.get(), X509_get0_pubkey(authority.get())) != 1) {
    return Error{Code::Unauthenticated,
                 fmt::format("the scheduler at {} is not of the authority that this certificate is "
                             "from: check the address, or {}",
                             address, kJoinAgain)};
  }
  if (const auto wrong = wrong_time(server.get())) {
    return Error{Code::FailedPrecondition,
                 fmt::format("the certificate of the scheduler at {} {}, by this machine's clock: "
                             "compare the clocks; a running scheduler renews it by itself",
                             address, *wrong)};
  }
  const auto place = read_listen_address(address, true);
  const std::string host = !options.server_name.empty() ? options.server_name
                           : place.ok()                 ? place.value().host
                                                        : "";
  if (!names_host(server.get(), host)) {
    return Error{Code::FailedPrecondition,
                 fmt::format("the certificate of the scheduler at {} does not name {}; start it "
                             "with `--host {}`",
                             address, host, host)};
  }
  return std::nullopt;
}

std::optional<Error> wrong_with_caller(const ClientOptions& options, const SeenServer& seen) {
  const Openssl<X509> own = first_certificate(options.tls->certificate);
  if (own == nullptr) {
    return Error{Code::Unauthenticated,
                 fmt::format("{} wants a certificate; {}", options.address, kJoinAgain)};
  }
  // The scheduler's clock and list decide, so its words come first.
  std::optional<Result<Caller>> answer;
  if (seen.closed && options.https_port > 0) {
    const std::string host = options.address.substr(0, options.address.rfind(':'));
    answer = ask_own_name(
        {.address = fmt::format("{}:{}", host, options.https_port), .tls = *options.tls});
    if (!answer->ok() && answer->error().code == Code::Unauthenticated) return answer->error();
  }
  if (const auto wrong = wrong_time(own.get())) {
    return Error{Code::Unauthenticated, fmt::format("the certificate of {} {}: {}",
                                                    name_in(own.get()), *wrong, kJoinAgain)};
  }
  if (!seen.closed || (answer && answer->ok())) return std::nullopt;
  if (!is_signed_by(options.tls->authority, options.tls->certificate)) {
    return Error{Code::Unauthenticated,
                 fmt::format("the certificate of {} is not from the authority of the scheduler at "
                             "{}; {}",
                             name_in(own.get()), options.address, kJoinAgain)};
  }
  // A scheduler that stops closes the connection in the same way, so to ask again may help.
  return Error{
      Code::Unavailable,
      fmt::format("{} closes the connection of {}: the scheduler stops, or the certificate "
                  "was revoked or has expired by its clock; if this stays so, {}",
                  options.address, name_in(own.get()), kJoinAgain)};
}

}  // namespace

Error diagnose(const ClientOptions& options, Error seen) {
  if (!options.tls) return seen;
  const auto server = look_at_server(options.address, *options.tls);
  if (!server.ok()) return seen;
  if (auto wrong = wrong_with_server(options, server.value())) return std::move(*wrong);
  if (auto wrong = wrong_with_caller(options, server.value())) return std::move(*wrong);
  return seen;
}

}  // namespace orrery
