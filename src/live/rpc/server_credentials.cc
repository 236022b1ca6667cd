#include "live/rpc/server_credentials.h"

#include <grpcpp/security/tls_credentials_options.h>

#include <utility>

#include "live/rpc/grpc_words.h"
#include "live/rpc/http_tls.h"

namespace orrery {
namespace {

namespace tls = grpc::experimental;

class CallerVerifier final : public tls::ExternalCertificateVerifier {
 public:
  CallerVerifier(std::string authority, Access access)
      : authority_(std::move(authority)), access_(std::move(access)) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)>,
              grpc::Status* answer) override {
    const grpc::string_ref shown = request->peer_cert();
    const std::string certificate(shown.data(), shown.size());
    if (!is_signed_by(authority_, certificate)) {
      *answer = {grpc::UNAUTHENTICATED, "the certificate is not of this cluster's authority"};
      return true;
    }
    const auto caller = access_.identify(certificate);
    if (!caller.ok() && caller.error().code == Code::Unauthenticated) {
      *answer = grpc_status(caller.error());
    }
    return true;  // at once
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest*) override {}

 private:
  const std::string authority_;
  const Access access_;
};

std::shared_ptr<tls::CertificateProviderInterface> provider(const TlsMaterial& material) {
  if (!material.files) {
    return std::make_shared<tls::StaticDataCertificateProvider>(
        std::vector<tls::IdentityKeyCertPair>{{material.key, material.certificate}});
  }
  return std::make_shared<tls::FileWatcherCertificateProvider>(
      material.files->key, material.files->certificate, material.files->look_every_s);
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> demanding_credentials(const TlsMaterial& material,
                                                               const Access& access) {
  tls::TlsServerCredentialsOptions options(provider(material));
  options.watch_identity_key_cert_pairs();
  // Verified below instead: by the clock and the list of revoked certificates that calls go by.
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_BUT_DONT_VERIFY);
  options.set_certificate_verifier(
      tls::ExternalCertificateVerifier::Create<CallerVerifier>(material.authority, access));
  options.set_check_call_host(false);
  return tls::TlsServerCredentials(options);
}

}  // namespace orrery
