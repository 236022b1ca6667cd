#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "base/plain_text.h"
#include "cloud/gce/answers.h"
#include "cloud/gce/credentials.h"
#include "cloud/gce/faults.h"
#include "cloud/gce/requests.h"
#include "cloud/gce/timestamp.h"

using namespace orrery;

namespace {

template <class Value>
void check(const Result<Value>& read) {
  if (!read.ok()) {
    INVARIANT(read.error().code == Code::Unavailable, "what is no answer may be asked for again");
  }
}

void read_as_instances(std::string_view body) {
  const auto page = read_instances(body);
  check(page);
  if (!page.ok()) return;
  for (const GceInstance& instance : page.value().items) {
    INVARIANT(!instance.name.empty(), "an instance has a name");
    if (const auto spec = spec_of(instance, {})) {
      INVARIANT(spec->name == instance.name, "a spec is of its instance");
    }
  }
}

void read_as_operation(std::string_view body) {
  const auto operation = read_operation(body);
  check(operation);
  if (operation.ok()) {
    const Error error = error_of(operation.value().faults);
    INVARIANT(is_plain_text(error.message), "a message can be shown");
  }
  check(read_operations(body));
}

void read_as_fault(std::string_view body) {
  const GceFault fault = read_fault(body);
  for (const int status : {200, 301, 400, 401, 403, 404, 409, 412, 429, 500, 503}) {
    const Error error = error_of(status, fault);
    INVARIANT(is_plain_text(error.message) && error.message.size() < 1000,
              "a message can be shown");
    (void)may_be_repeated(status, fault);
  }
}

}  // namespace

// Whatever a service, a proxy or a broken connection answers is read or refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  (void)kind_of(body);
  check(read_instance(body));
  read_as_instances(body);
  read_as_operation(body);
  read_as_fault(body);
  check(read_image_link(body));
  check(read_access_token(body));
  if (const auto time = rfc3339_time(body)) {
    INVARIANT(rfc3339_time(rfc3339_text(*time)).has_value(), "a time reads back");
  }
  if (const auto time = http_date(body)) {
    INVARIANT(http_date(http_date_text(*time)) == time, "a date reads back");
  }
  (void)parse_service_account("key.json", body);
  return 0;
}
