#pragma once

#include <openssl/ssl.h>

#include <string>

#include "rpc/access.h"

namespace orrery {

// Prepares a server's context: TLS 1.2 or later, its certificate, and the authority that clients'
// certificates must be from, if they show any. False where the material does not fit together.
bool set_up_tls(SSL_CTX& context, const TlsMaterial& tls);

// As PEM; empty when the client showed none.
std::string client_certificate(const SSL* connection);

}  // namespace orrery
