#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "live/rpc/access.h"
#include "live/rpc/connection_guard.h"

namespace orrery {

struct HttpRequest {
  std::string method{};
  std::string path{};  // without the query, decoded
  std::multimap<std::string, std::string> query{};
  std::string content_type{};
  std::string host{};  // as the client spelled it
  std::string body{};
  std::string certificate_pem{};  // of the client; empty: it showed none
};

struct HttpAnswer {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
};

struct HttpOptions {
  std::string address = "127.0.0.1:0";
  std::optional<TlsMaterial> tls{};  // none: plain, on this machine only
  std::size_t body_bytes_max = std::size_t{4} << 20;
  int threads = 64;      // each serves one connection at a time
  GuardOptions guard{};  // of TLS connections; together they are no more than there are threads
};

// Serves HTTP, or HTTPS where there is TLS material; there clients may show a certificate, which is
// then verified, and the number of connections and the time of those without are bounded
// (connection_guard.h). The handler is called on the server's threads and may block them. A body
// that is too large never reaches it; nor is there an answer after stop().
class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  void stop();  // waits for the handlers that run

 private:
  struct Parts;
  explicit HttpServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace orrery
