#pragma once

#include <string_view>

namespace orrery {

// Reports to the service manager that started this process how far it is, as systemd's Type=notify
// asks: "READY=1", "STOPPING=1", "STATUS=..." (sd_notify(3)). Does nothing if $NOTIFY_SOCKET is
// unset, as without such a manager. Never blocks; a report that fails is left to the manager's time
// limit.
void notify_service_manager(std::string_view state);

}  // namespace orrery
