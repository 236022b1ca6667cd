#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "live/api/api.h"
#include "live/rpc/http_server.h"
#include "live/rpc/rest.h"

namespace orrery {

// {"error":{"code":...,"message":...}} under the status that fits.
HttpAnswer http_error(const Error& error);
// The code of that name in such a body; Internal for any other.
Code code_named(std::string_view name);

// Every path that needs a certificate, with its method. A star stands for one name.
struct RestPath {
  std::string method{};
  std::string path{};
};
std::vector<RestPath> rest_paths();

// From an HTTP request to a call of the Api and back. Without sockets, so that it can be tried with
// any bytes.
class RestCalls {
 public:
  RestCalls(const RestOptions& options, Api& api);

  HttpAnswer answer(const HttpRequest& request);
  void stop();  // those that wait, and all that come later, get Unavailable

 private:
  // Notified when a reply has come, and when there will be none. Replies hold it, since they may
  // come when everything else here has gone.
  struct Bell {
    std::mutex mutex{};
    std::condition_variable answered{};
    bool stopping = false;
  };
  using Path = std::vector<std::string>;

  HttpAnswer join(const HttpRequest& request);
  HttpAnswer answer_known(const HttpRequest& request, const Caller& caller);
  // Of a path and method that are in the table.
  Result<std::string> known_path(const HttpRequest& request, const Path& path,
                                 const Caller& caller);
  Result<std::string> jobs(const HttpRequest& request, const Path& path, const Caller& caller);
  Result<std::string> nodes(const HttpRequest& request, const Path& path, const Caller& caller);

  Result<std::string> trust(const HttpRequest& request, const Path& path, const Caller& caller);

  template <class In, class Out, class Request, class Answer>
  Result<std::string> ask(const Caller& caller, const In& message,
                          void (Api::*method)(const Caller&, Request, Reply<Answer>));
  template <class In, class Out, class Request, class Answer>
  Result<std::string> show_or_set(const HttpRequest& request, const Caller& caller,
                                  void (Api::*show)(const Caller&, Nothing, Reply<Answer>),
                                  void (Api::*set)(const Caller&, Request, Reply<Nothing>));
  template <class Request, class Answer>
  Result<Answer> reply_to(const Caller& caller, Request request,
                          void (Api::*method)(const Caller&, Request, Reply<Answer>));

  const RestOptions options_;
  Api& api_;
  Gate gate_;
  const int waits_max_;  // threads that may be held by calls that wait
  std::atomic<int> waits_{0};
  std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
};

}  // namespace orrery
