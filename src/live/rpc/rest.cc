#include "live/rpc/rest.h"

#include "live/rpc/rest_calls.h"

namespace orrery {

struct RestServer::Parts {
  Parts(const RestOptions& options, Api& api) : calls(options, api) {}

  RestCalls calls;
  std::unique_ptr<HttpServer> http;
};

Result<std::unique_ptr<RestServer>> RestServer::start(const RestOptions& options, Api& api) {
  INVARIANT(options.access.identify, "a server identifies its callers");
  auto parts = std::make_unique<Parts>(options, api);
  TRY_ASSIGN(parts->http,
             HttpServer::start(options.http, [&calls = parts->calls](const HttpRequest& request) {
               return calls.answer(request);
             }));
  return std::unique_ptr<RestServer>(new RestServer(std::move(parts)));
}

RestServer::RestServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
RestServer::~RestServer() { stop(); }

int RestServer::port() const { return parts_->http->port(); }

void RestServer::stop() {
  parts_->calls.stop();
  parts_->http->stop();
}

}  // namespace orrery
