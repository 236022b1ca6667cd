#pragma once

#include "live/api/api_rights.h"
#include "live/codec/fields.h"

// What the calls about tenants and limits and their answers are made of.

namespace orrery {

void fields(auto& io, Like<TenantRequest> auto& v) {
  io("tenant", v.tenant);
  io("add", v.add, Range{0, 10'000});
  io("remove", v.remove, Range{0, 10'000});
  io("forget", v.forget);
}
void fields(auto& io, Like<TenantStatus> auto& v) {
  io("tenant", v.tenant);
  io("members", v.members);
}
void fields(auto& io, Like<TenantsAnswer> auto& v) { io("tenants", v.tenants); }

void fields(auto& io, Like<Limits> auto& v) {
  io("priority", v.priority);
  io("gpus", v.gpus);
  io("pending", v.pending);
  io("submissions", v.submissions);
}
void fields(auto& io, Like<LimitsRequest> auto& v) {
  io("scope", v.scope);
  io("name", v.name);
  io("limits", v.limits);
  io("inherit", v.inherit, Range{0, 100});
}
void fields(auto& io, Like<LimitsStatus> auto& v) {
  io("scope", v.scope);
  io("name", v.name);
  io("limits", v.limits);
  io("gpus_held", v.gpus_held);
  io("pending_now", v.pending_now);
}
void fields(auto& io, Like<LimitsAnswer> auto& v) { io("limits", v.limits); }

}  // namespace orrery
