#include "live/auth/credentials.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "base/logins.h"
#include "base/state_folder.h"
#include "live/auth/certificates.h"
#include "live/auth/limits.h"

namespace orrery {
namespace {

struct Paths {
  std::string certificate{};
  std::string key{};
};

Paths paths_of(const std::string& directory, const std::string& name) {
  return {directory + "/" + name + ".pem", directory + "/" + name + ".key"};
}

// Nothing where there is no file; its content may be anything.
Result<std::string> read_if_there(const std::string& path) {
  auto content = read_private_file(path);
  if (!content.ok() && content.error().code == Code::NotFound) return std::string();
  return content;
}

template <class T>
bool says_yes(const Result<T>& answer) {
  return answer.ok() && answer.value();
}

// What differs between the server's certificate and the admin's.
struct Kind {
  std::string name{};
  CertificateUse use{};
  std::function<bool(const std::string& certificate_pem)> fits{};
  std::function<Result<std::string>(const std::string& request_pem)> issue{};
};

bool still_good(const Kind& kind, const Credentials& credentials, std::chrono::sys_seconds now) {
  const auto validity = validity_of(credentials.certificate_pem);
  return validity.ok() && !should_renew(validity.value(), now) &&
         says_yes(belong_together(credentials.certificate_pem, credentials.key_pem)) &&
         verify_certificate(credentials.ca_pem, credentials.certificate_pem, kind.use, now).ok() &&
         kind.fits(credentials.certificate_pem);
}

// An existing key is kept: a process that reads the pair while it is renewed must not find a key
// and the certificate of another.
Result<Credentials> load_or_issue(const std::string& directory, const Kind& kind,
                                  const std::string& ca_pem, std::chrono::sys_seconds now) {
  const Paths paths = paths_of(directory, kind.name);
  Credentials credentials{.ca_pem = ca_pem, .certificate_pem = {}, .key_pem = {}};
  TRY_ASSIGN(credentials.certificate_pem, read_if_there(paths.certificate));
  TRY_ASSIGN(std::string key, read_if_there(paths.key));
  credentials.key_pem = Secret(std::move(key));
  if (still_good(kind, credentials, now)) return credentials;
  std::string request_pem;
  if (auto request = make_request(credentials.key_pem); request.ok()) {
    request_pem = std::move(request).value();
  } else {
    TRY_ASSIGN(KeyAndRequest made, make_key_and_request());
    credentials.key_pem = std::move(made.key_pem);
    request_pem = std::move(made.request_pem);
    TRY(write_file_atomically(paths.key, credentials.key_pem.reveal(), {.durable = true}));
  }
  TRY_ASSIGN(credentials.certificate_pem, kind.issue(request_pem));
  TRY(write_file_atomically(paths.certificate, credentials.certificate_pem, {.durable = true}));
  return credentials;
}

}  // namespace

Result<Credentials> load_credentials(const std::string& directory, const std::string& name) {
  TRY(check_caller_name(name));
  const Paths paths = paths_of(directory, name);
  Credentials credentials;
  TRY_ASSIGN(credentials.ca_pem, read_private_file(directory + "/ca.pem"));
  TRY_ASSIGN(credentials.certificate_pem, read_private_file(paths.certificate));
  TRY_ASSIGN(std::string key, read_private_file(paths.key));
  credentials.key_pem = Secret(std::move(key));
  auto fit = belong_together(credentials.certificate_pem, credentials.key_pem);
  if (!fit.ok()) return std::move(fit).error().at(paths.certificate);
  if (!fit.value()) {
    return Error{Code::FailedPrecondition,
                 paths.key + ": not the key of " + paths.certificate + "; join again"};
  }
  return credentials;
}

Status save_credentials(const std::string& directory, const std::string& name,
                        const Credentials& credentials) {
  TRY(check_caller_name(name));
  TRY(make_state_folder(directory, Passage::None));
  TRY_ASSIGN(const Fd lock, lock_state_folder(directory));
  const Paths paths = paths_of(directory, name);
  TRY(write_file_atomically(paths.key, credentials.key_pem.reveal(), {.durable = true}));
  TRY(write_file_atomically(paths.certificate, credentials.certificate_pem, {.durable = true}));
  return write_file_atomically(directory + "/ca.pem", credentials.ca_pem, {.durable = true});
}

Result<LocalTrust> load_or_make_local(const std::string& directory,
                                      const std::vector<std::string>& hosts,
                                      std::chrono::sys_seconds now) {
  std::vector<std::string> names{"localhost", "127.0.0.1", "::1"};
  for (const std::string& host : hosts) {
    if (std::find(names.begin(), names.end(), host) == names.end()) names.push_back(host);
  }
  TRY(make_state_folder(directory, Passage::None));
  TRY_ASSIGN(const Fd lock, lock_state_folder(directory));
  TRY_ASSIGN(Authority authority, Authority::open(directory, lock, now));
  const Identity owner{Role::Admin, login_name(::geteuid())};
  const Kind server{.name = "server",
                    .use = CertificateUse::Server,
                    .fits = [&](const std::string& pem) { return says_yes(covers(pem, names)); },
                    .issue =
                        [&](const std::string& request) {
                          return authority.issue_server(request, names, kServerLife, now);
                        }};
  const Kind admin{.name = "admin",
                   .use = CertificateUse::Caller,
                   .fits =
                       [&](const std::string& pem) {
                         const auto found = identity_of(pem);
                         return found.ok() && found.value() == owner;
                       },
                   .issue =
                       [&](const std::string& request) {
                         return authority.issue(request, owner, life_of(owner.role), now);
                       }};
  TRY_ASSIGN(Credentials for_server,
             load_or_issue(directory, server, authority.certificate_pem(), now));
  // In one file, as servers read it again while they run. By the authority's a joiner knows it.
  const std::string chain = for_server.certificate_pem + for_server.ca_pem;
  const std::string chain_path = directory + "/server_chain.pem";
  TRY_ASSIGN(const std::string chain_before, read_if_there(chain_path));
  if (chain_before != chain) TRY(write_file_atomically(chain_path, chain, {.durable = true}));
  TRY_ASSIGN(Credentials for_admin,
             load_or_issue(directory, admin, authority.certificate_pem(), now));
  return LocalTrust{std::move(authority), std::move(for_server), std::move(for_admin)};
}

}  // namespace orrery
