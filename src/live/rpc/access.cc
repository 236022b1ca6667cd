#include "live/rpc/access.h"

#include <fmt/format.h>

#include <charconv>

#include "live/auth/listen.h"

namespace orrery {
Result<Caller> Gate::enter(const std::string& certificate_pem) {
  if (tls_ && certificate_pem.empty()) {
    return Error{Code::Unauthenticated,
                 "this call needs a certificate; `orrery join` gets one for a token"};
  }
  TRY_ASSIGN(Caller caller, access_.identify(certificate_pem));
  return admit(std::move(caller));
}

Result<Caller> Gate::enter_to_join(const std::string& certificate_pem) {
  Caller caller{};
  if (!certificate_pem.empty()) {
    // One that has expired is as good as none here: the token decides.
    auto known = access_.identify(certificate_pem);
    if (known.ok()) caller = std::move(known).value();
  }
  return admit(std::move(caller));
}

Result<Caller> Gate::admit(Caller caller) {
  if (access_.admit) TRY(access_.admit(caller));
  if (++calls_ > calls_max_) {
    --calls_;
    return Error{Code::ResourceExhausted,
                 fmt::format("{} calls are being answered already; try again later", calls_max_)};
  }
  return caller;
}

Result<ListenAddress> read_listen_address(const std::string& address, bool tls) {
  const auto wrong = [&](std::string_view what) {
    return invalid(fmt::format("{}: {}", address, what));
  };
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return wrong("write HOST:PORT");
  ListenAddress listen;
  listen.host = address.substr(0, colon);
  if (listen.host.front() == '[' && listen.host.back() == ']') {
    listen.host = listen.host.substr(1, listen.host.size() - 2);
  } else if (listen.host.find(':') != std::string::npos) {
    return wrong("write an IPv6 address as [ADDRESS]:PORT");
  }
  const char* const end = address.data() + address.size();
  const auto [rest, error] = std::from_chars(address.data() + colon + 1, end, listen.port);
  if (error != std::errc() || rest != end || listen.port < 0 || listen.port > 65535) {
    return wrong("a port is a number from 0 to 65535");
  }
  if (!tls && !is_loopback(listen.host)) {
    return Error{Code::FailedPrecondition,
                 fmt::format("{}: connections from other machines need certificates; listen on "
                             "127.0.0.1, or give the server its certificate",
                             address)};
  }
  return listen;
}

}  // namespace orrery
