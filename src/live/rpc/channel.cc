#include "live/rpc/channel.h"

#include <fmt/format.h>

#include <chrono>

#include "live/rpc/grpc_words.h"

namespace orrery {

std::shared_ptr<grpc::Channel> open_channel(const ClientOptions& options) {
  quiet_grpc();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(256 << 20);  // the status of some 100,000 jobs
  // Connections are not shared between channels, nor is the time to wait after a failed one.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5'000);  // the longest handshake
  const auto most = std::chrono::ceil<std::chrono::milliseconds>(options.reconnect_most).count();
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, static_cast<int>(most));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  // Both cost each call something: the first is for policies we have none of, the second for a
  // page that is not served.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_CHANNELZ, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  if (!options.tls) {
    return grpc::CreateCustomChannel(options.address, grpc::InsecureChannelCredentials(),
                                     arguments);
  }
  if (!options.server_name.empty()) arguments.SetSslTargetNameOverride(options.server_name);
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = options.tls->authority;
  ssl.pem_private_key = options.tls->key;
  ssl.pem_cert_chain = options.tls->certificate;
  return grpc::CreateCustomChannel(options.address, grpc::SslCredentials(ssl), arguments);
}

Error error_of(const grpc::Status& status, const std::string& address) {
  const Code code = code_of(status);
  switch (code) {
    case Code::Unavailable:
      return {code,
              fmt::format("{}: the scheduler does not answer ({}); see whether `orrery serve` "
                          "runs there and whether your certificate is from its authority",
                          address, status.error_message())};
    case Code::Cancelled:
      // This side cancels none. A server that stops ends the calls that wait in it like this.
      return {Code::Unavailable,
              fmt::format("{}: the scheduler ended the call; it stops or starts again", address)};
    case Code::DeadlineExceeded:
      return {code, fmt::format("{}: no answer within the time allowed; the scheduler is busy or "
                                "cannot be reached",
                                address)};
    default:
      return {code, status.error_message()};
  }
}

}  // namespace orrery
