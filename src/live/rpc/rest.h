#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "live/api/api.h"
#include "live/rpc/access.h"
#include "live/rpc/http_server.h"

namespace orrery {

struct RestOptions {
  HttpOptions http{};
  Access access{};
  // For Prometheus, if the caller may read them. Empty: there are none.
  std::function<Result<std::string>(const Caller& caller)> metrics{};
  bool join_only = false;                        // serves `join` and no other call
  Duration deadline = std::chrono::seconds(30);  // of a call; those that wait have their wait more
};

// The same calls as gRPC's, as JSON over HTTP: docs/formats/api.md. The Api must outlive stop().
class RestServer {
 public:
  static Result<std::unique_ptr<RestServer>> start(const RestOptions& options, Api& api);
  ~RestServer();
  RestServer(const RestServer&) = delete;
  RestServer& operator=(const RestServer&) = delete;

  int port() const;
  void stop();  // calls that wait are answered with Unavailable

 private:
  struct Parts;
  explicit RestServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace orrery
