#pragma once

#include "live/api/api_trust.h"
#include "live/codec/fields.h"

namespace orrery {

void fields(auto& io, Like<TokenRequest> auto& v) {
  io("role", v.role);
  io("name", v.name);
  io("valid_ns", v.valid, kOneOrMore);
  io("uses", v.uses, kOneOrMore);
}
void fields(auto& io, Like<TokenAnswer> auto& v) { io("token", v.token); }
void fields(auto& io, Like<TokensRequest> auto& v) { io("withdraw", v.withdraw); }
void fields(auto& io, Like<TokenStatus> auto& v) {
  io("id", v.id);
  io("role", v.role);
  io("name", v.name);
  io("until_s", v.until_s);
  io("uses", v.uses);
}
void fields(auto& io, Like<TokensAnswer> auto& v) { io("tokens", v.tokens); }
void fields(auto& io, Like<CertificatesRequest> auto& v) {
  io("revoke_serial", v.revoke_serial);
  io("revoke_name", v.revoke_name);
  io("role", v.role);
}
void fields(auto& io, Like<CertificateStatus> auto& v) {
  io("serial", v.serial);
  io("role", v.role);
  io("name", v.name);
  io("from_s", v.from_s);
  io("until_s", v.until_s);
  io("revoked", v.revoked);
}
void fields(auto& io, Like<CertificatesAnswer> auto& v) {
  io("certificates", v.certificates);
  io("revoked", v.revoked);
  io("withdrawn", v.withdrawn);
}
void fields(auto& io, Like<RemoveNodeRequest> auto& v) { io("node", v.node); }

void fields(auto& io, Like<JoinRequest> auto& v) {
  io("token", v.token);
  io("name", v.name);
  io("certificate_request", v.certificate_request);
  io("role", v.role);
}
void fields(auto& io, Like<JoinAnswer> auto& v) {
  io("certificate", v.certificate);
  io("authority", v.authority);
  io("port", v.port, Range{0, 65'535});
}

}  // namespace orrery
