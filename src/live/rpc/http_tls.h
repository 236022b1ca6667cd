#pragma once

#include <openssl/ssl.h>

#include <string>

#include "live/rpc/access.h"

namespace orrery {

// Prepares a server's context: TLS 1.2 or later, its certificate, and the authority that clients'
// certificates must be from, if they show any. The time of a client's certificate is not checked.
// False where the material does not fit together.
bool set_up_tls(SSL_CTX& context, const TlsMaterial& tls);

// From now on the server shows what the files hold at each handshake. They outlive the context.
void show_newest_of(SSL_CTX& context, const TlsFiles& files);

// Fails if a server could not use this material.
bool fits_together(const TlsMaterial& tls);

// The client's certificate and key. False where they do not fit together.
bool show_as_client(SSL_CTX& context, const TlsMaterial& tls);

// True if the authority has signed this certificate for a caller, at any time.
bool is_signed_by(const std::string& authority_pem, const std::string& certificate_pem);

// As PEM; empty when the client showed none.
std::string client_certificate(const SSL* connection);

}  // namespace orrery
