#include "live/rpc/https_client.h"

#include <fmt/format.h>
#include <httplib.h>
#include <orrery/v1/scheduler.pb.h>

#include <nlohmann/json.hpp>

#include "live/codec/wire.h"
#include "live/rpc/openssl_handles.h"
#include "live/rpc/rest_calls.h"
#include "live/rpc/rest_json.h"

namespace orrery {
namespace {

struct HttpsQuestion {
  std::string path{};
  std::string body{};  // empty: GET
};

Error error_of_answer(const httplib::Response& response) {
  const auto body = nlohmann::json::parse(response.body, nullptr, false);
  const auto error = body.is_object() ? body.find("error") : body.end();
  if (body.is_object() && error != body.end() && error->is_object()) {
    const auto code = error->find("code");
    const auto message = error->find("message");
    if (code != error->end() && code->is_string() && message != error->end() &&
        message->is_string()) {
      return {code_named(code->get<std::string>()), message->get<std::string>()};
    }
  }
  return {Code::Unavailable, fmt::format("the HTTPS port answers with status {}", response.status)};
}

Error no_answer(const HttpsPlace& place, httplib::Error why, long verified) {
  if (why == httplib::Error::SSLServerVerification && verified != X509_V_OK) {
    return {Code::Unauthenticated, fmt::format("{}: the scheduler's certificate: {}", place.address,
                                               X509_verify_cert_error_string(verified))};
  }
  if (why == httplib::Error::SSLServerVerification) {
    return {Code::Unauthenticated,
            fmt::format("{}: the scheduler's certificate does not name this host; use another of "
                        "its names, or start it with `--host NAME`",
                        place.address)};
  }
  return {Code::Unavailable, fmt::format("{}: the scheduler's HTTPS port does not answer ({})",
                                         place.address, httplib::to_string(why))};
}

Result<std::string> ask_https(const HttpsPlace& place, const HttpsQuestion& question) {
  TRY_ASSIGN(const ListenAddress where, read_listen_address(place.address, true));
  const Openssl<X509> own = first_certificate(place.tls.certificate);
  const Openssl<EVP_PKEY> key = key_in(place.tls.key);
  httplib::SSLClient client(where.host, where.port, own.get(), key.get());
  X509_STORE* const trusted = X509_STORE_new();  // the client takes it
  const Openssl<X509> authority = first_certificate(place.tls.authority);
  if (trusted == nullptr || authority == nullptr ||
      X509_STORE_add_cert(trusted, authority.get()) != 1) {
    X509_STORE_free(trusted);
    return invalid(place.address + ": the authority's certificate cannot be read");
  }
  client.set_ca_cert_store(trusted);
  client.enable_server_certificate_verification(true);
  client.set_connection_timeout(10);
  client.set_read_timeout(30);
  const httplib::Result answer =
      question.body.empty() ? client.Get(question.path.c_str())
                            : client.Post(question.path.c_str(), question.body, "application/json");
  if (!answer) return no_answer(place, answer.error(), client.get_openssl_verify_result());
  if (answer->status != 200) return error_of_answer(*answer);
  return answer->body;
}

}  // namespace

Result<JoinAnswer> join_over_https(const HttpsPlace& place, const JoinRequest& request) {
  v1::JoinRequest asked;
  write_wire(request, asked);
  TRY_ASSIGN(const std::string body,
             ask_https(place, {.path = "/v1/join", .body = write_json(asked)}));
  v1::JoinAnswer answer;
  TRY(read_json(body, answer));
  return read_wire<JoinAnswer>(answer);
}

Result<Caller> ask_own_name(const HttpsPlace& place) {
  TRY_ASSIGN(const std::string body, ask_https(place, {.path = "/v1/me", .body = {}}));
  const auto answer = nlohmann::json::parse(body, nullptr, false);
  if (!answer.is_object() || !answer.contains("name") || !answer["name"].is_string()) {
    return Error{Code::Internal, place.address + ": /v1/me answers with something else"};
  }
  return Caller{.name = answer["name"].get<std::string>()};
}

}  // namespace orrery
