#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "live/auth/authority.h"
#include "live/auth/secret.h"

namespace orrery {

// What one end of a mutual TLS connection needs, as gRPC and an HTTPS server take it: the
// trusted authority, the own certificate, its key.
struct Credentials {
  std::string ca_pem{};
  std::string certificate_pem{};
  Secret key_pem{};
};

// DIRECTORY/ca.pem, NAME.pem and NAME.key. Both make the checks of private_files.h; load also
// refuses a key that is not the certificate's.
Result<Credentials> load_credentials(const std::string& directory, const std::string& name);
Status save_credentials(const std::string& directory, const std::string& name,
                        const Credentials& credentials);

struct LocalTrust {
  Authority authority;
  Credentials server{};  // server.pem, server.key; server_chain.pem is the former and ca.pem
  Credentials admin{};   // admin.pem, admin.key: the owner of the directory is an admin
};

// Everything `orrery serve` needs, in one call at each start and once a day after that. What is not
// there is made; what should be renewed or does not fit is issued again, with the key it had. The
// server can always be reached as localhost, 127.0.0.1 and ::1, besides `hosts`. The admin's name
// is the login name of the user who runs this.
Result<LocalTrust> load_or_make_local(const std::string& directory,
                                      const std::vector<std::string>& hosts,
                                      std::chrono::sys_seconds now);

}  // namespace orrery
