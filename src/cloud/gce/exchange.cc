#include "cloud/gce/exchange.h"

#include <fmt/format.h>
#include <httplib.h>

#include <string_view>

namespace orrery {
namespace {

std::string_view host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  std::string_view host = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  host = host.substr(0, host.find('/'));
  return host.starts_with('[') ? host.substr(0, host.find(']') + 1)
                               : host.substr(0, host.find(':'));
}

bool is_loopback_number(std::string_view host) {
  return host.starts_with("127.") && host.size() <= 15 &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

// What is sent to these hosts does not leave the machine, or the host that runs it.
bool may_be_plain(std::string_view host) {
  return host == "localhost" || host == "[::1]" || is_loopback_number(host) ||
         host == "metadata.google.internal" || host == "169.254.169.254";
}

class HttplibTransport final : public GceTransport {
 public:
  explicit HttplibTransport(const GceHost& host) : host_(host), client_(host.url) {
    client_.set_connection_timeout(host.connect_s);
    client_.set_read_timeout(host.read_s);
    client_.set_write_timeout(host.read_s);
    client_.set_keep_alive(true);
    client_.set_tcp_nodelay(true);
    client_.set_follow_location(false);
    client_.enable_server_certificate_verification(true);
    if (!host.authorities.empty()) client_.set_ca_cert_path(host.authorities.c_str());
  }

  bool is_valid() const { return client_.is_valid(); }

  GceExchange exchange(const GceCall& call) override {
    GceExchange made;
    bool too_large = false;
    httplib::Request request;
    request.method = call.method;
    request.path = call.path;
    for (const auto& [name, value] : call.headers) request.set_header(name, value);
    if (call.method == "POST") {
      request.body = call.body;
      request.set_header("Content-Type", call.content_type);
    }
    request.content_receiver = [&](const char* data, std::size_t size, auto, auto) {
      too_large = made.body.size() + size > host_.answer_bytes_max;
      if (!too_large) made.body.append(data, size);
      return !too_large;
    };
    const httplib::Result answer = client_.send(request);
    if (answer) {
      made.delivery = Delivery::Answered;
      made.status = answer->status;
      made.date = answer->get_header_value("Date");
      made.retry_after = answer->get_header_value("Retry-After");
      return made;
    }
    made.body.clear();
    made.delivery = too_large ? Delivery::TooLarge : delivery_of(answer.error());
    made.fault = too_large
                     ? fmt::format("the answer has more than {} bytes", host_.answer_bytes_max)
                     : fault_of(answer.error());
    return made;
  }

 private:
  static Delivery delivery_of(httplib::Error error) {
    switch (error) {
      case httplib::Error::Connection:
      case httplib::Error::ConnectionTimeout:
      case httplib::Error::BindIPAddress:
      case httplib::Error::SSLConnection:
        return Delivery::NotSent;
      case httplib::Error::SSLLoadingCerts:
      case httplib::Error::SSLServerVerification:
        return Delivery::Untrusted;
      default:
        // Newer versions of the library have a value of its own for a name that does not match.
        return httplib::to_string(error).starts_with("SSL server") ? Delivery::Untrusted
                                                                   : Delivery::Lost;
    }
  }

  std::string fault_of(httplib::Error error) const {
    switch (error) {
      case httplib::Error::SSLConnection:
        return "no TLS connection can be made; is there a proxy, or is it not an HTTPS port?";
      case httplib::Error::SSLLoadingCerts:
        return "the certificates of the authorities cannot be read; install ca-certificates";
      case httplib::Error::SSLServerVerification:
        return "the host's certificate is not valid for it; check ca-certificates and the clock";
      case httplib::Error::Connection:
      case httplib::Error::ConnectionTimeout:
        return "no connection";
      default:
        return "the connection ended before the answer did";
    }
  }

  GceHost host_;
  httplib::Client client_;
};

}  // namespace

Result<std::unique_ptr<GceTransport>> transport_to(const GceHost& host) {
  const bool tls = host.url.starts_with("https://");
  if (!tls && !(host.url.starts_with("http://") && may_be_plain(host_of(host.url)))) {
    return invalid(
        fmt::format("{}: write https://HOST; http:// is for this machine only, because "
                    "tokens would be readable on the way",
                    host.url));
  }
  auto transport = std::make_unique<HttplibTransport>(host);
  if (!transport->is_valid()) {
    return invalid(
        fmt::format("{}: not an address; write https://HOST or https://HOST:PORT", host.url));
  }
  return std::unique_ptr<GceTransport>(std::move(transport));
}

std::pair<std::string, std::string> split_url(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::size_t path = url.find('/', scheme == std::string::npos ? 0 : scheme + 3);
  if (path == std::string::npos) return {url, "/"};
  return {url.substr(0, path), url.substr(path)};
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace orrery
