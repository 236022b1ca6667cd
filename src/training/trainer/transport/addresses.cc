#include "training/trainer/transport/addresses.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <charconv>

namespace orrery {
namespace {

boost::asio::ip::address parse(std::string_view text, bool& good) {
  boost::system::error_code error;
  auto address = boost::asio::ip::make_address(text, error);
  good = !error;
  return address;
}

}  // namespace

bool is_wildcard(std::string_view address) {
  bool good = false;
  return parse(address, good).is_unspecified() && good;
}

bool is_loopback(std::string_view address) {
  bool good = false;
  return parse(address, good).is_loopback() && good;
}

std::string beside_head(std::string_view head) {
  if (!is_wildcard(head)) return std::string(head);
  return head.find(':') == std::string_view::npos ? "127.0.0.1" : "::1";
}

std::string reachable(const std::string& part, const std::string& head) {
  return is_wildcard(part) ? head : part;
}

std::string joiner_listens(const std::string& own, const std::string& head) {
  return is_loopback(own) && is_wildcard(head) ? head : own;
}

Result<std::string> resolved(const std::string& host) {
  boost::asio::io_context io(1);
  boost::asio::ip::tcp::resolver resolver(io);
  boost::system::error_code error;
  const auto found = resolver.resolve(host, "", error);
  if (error || found.empty()) return Error{Code::Unavailable, error.message()}.at(host);
  return found.begin()->endpoint().address().to_string();
}

Result<HostPort> parse_host_port(std::string_view text) {
  HostPort place;
  const auto colon = text.rfind(':');
  const bool split = colon != std::string_view::npos && colon > 0;
  const char* const end = text.data() + text.size();
  const auto read = split ? std::from_chars(text.data() + colon + 1, end, place.port)
                          : std::from_chars_result{end, std::errc::invalid_argument};
  if (read.ec != std::errc() || read.ptr != end || place.port == 0) {
    return invalid(fmt::format("{}: write HOST:PORT", text));
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  place.host = host;
  return place;
}

}  // namespace orrery
