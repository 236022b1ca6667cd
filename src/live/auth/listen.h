#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// True if what is sent to an address stays on this machine: 127.0.0.0/8, ::1, localhost, or a
// socket in the file system (unix:PATH). With or without a port: 127.0.0.1:7000, [::1]:7000. Names
// are not looked up; what cannot be read is no loopback address.
bool is_loopback(std::string_view address);

// The names for the certificate of a server that listens at these addresses: `hosts`, which come
// first, and the hosts of the addresses. 0.0.0.0 and [::] stand for the addresses of this machine's
// interfaces. An empty address is left out.
std::vector<std::string> certificate_hosts(std::vector<std::string> hosts,
                                           std::initializer_list<std::string_view> addresses);

}  // namespace orrery
