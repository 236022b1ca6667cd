#pragma once

#include <optional>
#include <string>

#include "rights/scheduler.h"

namespace orrery {

// Calls about a job, a user, a tenant or a node. The object of any other call has no owner.
constexpr bool has_owner(Call call) {
  return call == Call::Submit || call == Call::ShowStatus || call == Call::Cancel ||
         call == Call::ReadLogs || call == Call::Attend || call == Call::ShowTenants ||
         call == Call::ShowLimits;
}

enum class Transport { Socket, Grpc, Rest };
inline constexpr Transport kTransports[] = {Transport::Socket, Transport::Grpc, Transport::Rest};
const char* to_string(Transport transport);

// One call about an object of `owner`: a job, a node, or a certificate.
struct Question {
  Call call{};
  std::string owner{};
  JobNumber job = 0;
};

struct Outcome {
  bool carried = true;  // the transport has this call
  std::optional<Error> error{};
  std::string text{};  // every text of the answer

  bool denied() const {
    return error && (error->code == Code::PermissionDenied || error->code == Code::Unauthenticated);
  }
};

Outcome ask(TestScheduler& scheduler, Transport transport, const Identity& caller,
            const Question& question);

}  // namespace orrery
