#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery {

// When a process began, in clock ticks since the machine did: with its number, this is never true
// of another. None where there is no such process, or nothing but its exit status is left of it.
std::optional<std::uint64_t> start_while_alive(pid_t pid);

// Eleven letters and digits for what this process makes outside itself, another each time: its
// number, its start and a count. Short enough for the names of network interfaces.
inline constexpr std::size_t kOwnerTagSize = 11;
std::string new_owner_tag();

// False for whatever does not look like a tag.
bool is_owner_tag(std::string_view tag);
// True if the process that made the tag still runs.
bool owner_runs(std::string_view tag);

// "orrery-TAG-3": of a server's cgroup and network namespace. The tag of such a name, or nothing.
std::string server_name(std::string_view tag, int server);
std::optional<std::string> tag_of_server_name(std::string_view name);

// Two digits for a server's number, for names that must be short.
std::string short_number(int number);

}  // namespace orrery
