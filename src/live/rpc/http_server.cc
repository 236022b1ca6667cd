#include "live/rpc/http_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <semaphore>
#include <thread>
#include <utility>

#include "live/rpc/http_tls.h"

namespace orrery {
namespace {

// Takes at most twice as many connections as it has threads. Further connections wait in the
// kernel, whose queue is bounded; the queue of the library's pool is not. The pool is a member
// because newer versions of the library make its class final.
class BoundedPool final : public httplib::TaskQueue {
 public:
  explicit BoundedPool(int threads)
      : pool_(static_cast<std::size_t>(threads)), places_(2 * threads) {}

  using Work = std::function<void()>;
  // The type of the result depends on the library's version.
  auto enqueue(Work work)
      -> decltype(std::declval<httplib::TaskQueue&>().enqueue(Work())) override {
    places_.acquire();
    return pool_.enqueue([this, work = std::move(work)] {
      work();
      places_.release();
    });
  }
  void shutdown() override { pool_.shutdown(); }

 private:
  httplib::ThreadPool pool_;
  std::counting_semaphore<> places_;
};

HttpRequest request_of(const httplib::Request& request) {
  HttpRequest own;
  own.method = request.method;
  own.path = request.path;
  own.query = request.params;
  own.content_type = request.get_header_value("Content-Type");
  own.host = request.get_header_value("Host");
  own.body = request.body;
  own.certificate_pem = client_certificate(request.ssl);
  return own;
}

void set_limits(httplib::Server& server, const HttpOptions& options) {
  server.new_task_queue = [threads = options.threads] { return new BoundedPool(threads); };
  server.set_payload_max_length(options.body_bytes_max);
  server.set_tcp_nodelay(true);
  // Without SO_REUSEPORT, with which a second server could listen on the same port.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_read_timeout(5, 0);
  server.set_write_timeout(5, 0);
  // A connection that is idle holds a thread.
  server.set_keep_alive_timeout(2);
  server.set_keep_alive_max_count(1000);
}

void set_handlers(httplib::Server& server, const HttpServer::Handler& handler) {
  const auto serve = [handler](const httplib::Request& request, httplib::Response& response) {
    HttpAnswer answer = handler(request_of(request));
    response.status = answer.status;
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_content(std::move(answer.body), answer.content_type);
  };
  const char* const any = R"(/.*)";
  server.Get(any, serve);
  server.Post(any, serve);
  server.Put(any, serve);
  server.Patch(any, serve);
  server.Delete(any, serve);
  server.Options(any, serve);
  // What the library itself refuses: too large, not HTTP, and the like.
  server.set_error_handler([](const httplib::Request&, httplib::Response& response) {
    if (!response.body.empty()) return;
    const char* const what = response.status == 413 ? "the request is too large" : "bad request";
    response.set_content(
        fmt::format(R"({{"error":{{"code":"{}","message":"{}"}}}})",
                    response.status == 413 ? "ResourceExhausted" : "InvalidArgument", what),
        "application/json");
  });
}

}  // namespace

struct HttpServer::Parts {
  std::unique_ptr<ConnectionGuard> guard;  // first, as it outlives the connections
  TlsFiles files;                          // before the server, which looks at them
  std::unique_ptr<httplib::Server> server;
  int port = 0;
  std::thread thread;
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options, Handler handler) {
  TRY_ASSIGN(const ListenAddress listen,
             read_listen_address(options.address, options.tls.has_value()));
  auto parts = std::make_unique<Parts>();
  if (options.tls) {
    if (options.tls->files) parts->files = *options.tls->files;
    parts->guard = std::make_unique<ConnectionGuard>(options.guard);
    parts->server = std::make_unique<httplib::SSLServer>([&](SSL_CTX& context) {
      if (options.tls->files) show_newest_of(context, parts->files);
      parts->guard->guard(context);
      return set_up_tls(context, *options.tls);
    });
  } else {
    parts->server = std::make_unique<httplib::Server>();
  }
  if (!parts->server->is_valid()) {
    return invalid(
        fmt::format("{}: certificate, key and authority do not fit together", options.address));
  }
  set_limits(*parts->server, options);
  set_handlers(*parts->server, handler);
  parts->port = listen.port == 0 ? parts->server->bind_to_any_port(listen.host.c_str())
                : parts->server->bind_to_port(listen.host.c_str(), listen.port) ? listen.port
                                                                                : -1;
  if (parts->port <= 0) {
    return Error{
        Code::Unavailable,
        fmt::format("{}: cannot listen there; see whether another program does and whether "
                    "this machine has the address",
                    options.address)};
  }
  parts->thread = std::thread([server = parts->server.get()] { server->listen_after_bind(); });
  // Until then stop() would go unheard.
  while (!parts->server->is_running()) std::this_thread::yield();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(parts)));
}

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HttpServer::~HttpServer() { stop(); }

int HttpServer::port() const { return parts_->port; }

void HttpServer::stop() {
  if (!parts_->thread.joinable()) return;
  parts_->server->stop();
  parts_->thread.join();
}

}  // namespace orrery
