#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace orrery {

struct GceCall {
  std::string method = "GET";
  std::string path{};  // from the root of the host, with the query
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  std::string content_type = "application/json";
};

// What became of a call. The first three say whether it can have had an effect.
enum class Delivery : std::uint8_t {
  Answered,
  NotSent,    // no connection: no effect
  Lost,       // sent, but no whole answer came: perhaps an effect
  Untrusted,  // the host has no valid certificate: nothing was sent
  TooLarge,   // the answer is beyond the limit
};

struct GceExchange {
  Delivery delivery = Delivery::NotSent;
  int status = 0;
  std::string body{};
  std::string date{};         // the header Date
  std::string retry_after{};  // the header Retry-After
  std::string fault{};        // why there is no answer
};

// One host. The port behind which the network is.
class GceTransport {
 public:
  virtual ~GceTransport() = default;
  virtual GceExchange exchange(const GceCall& call) = 0;
};

struct GceHost {
  std::string url{};  // https://HOST[:PORT]; http:// on loopback and to the metadata server only
  std::string authorities{};  // a file of certificates to trust; empty: those of the system
  int connect_s = 10;
  int read_s = 60;
  std::size_t answer_bytes_max = std::size_t{32} << 20;
};

// InvalidArgument: the address cannot be used. Does not connect yet.
Result<std::unique_ptr<GceTransport>> transport_to(const GceHost& host);

// "https://HOST:PORT" and "/path" of an address.
std::pair<std::string, std::string> split_url(const std::string& url);

// Text as a part of a query.
std::string percent_encoded(std::string_view text);

}  // namespace orrery
