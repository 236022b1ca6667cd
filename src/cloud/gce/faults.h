#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cloud/gce/answers.h"
#include "cloud/gce/secret_filter.h"

namespace orrery {

// What a service says may repeat what it was sent.
GceFault without_secrets(const GceFault& fault, const SecretFilter& secrets);

// True if the same call may succeed later: overload, a rate limit, a fault of the service.
bool may_be_repeated(int status, const GceFault& fault);

// True if the zone has not enough of the machine now.
bool is_stock_out(const GceFault& fault);
bool is_quota(const GceFault& fault);

// The typed error of an answer, with the remedy.
Error error_of(int status, const GceFault& fault);
// The same of an operation. The fault that says most decides: one only counts what is missing.
Error error_of(const std::vector<GceFault>& faults);

}  // namespace orrery
