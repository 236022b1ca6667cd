#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace orrery {

using Variables = std::map<std::string, std::string>;

std::string variable(const Variables& environment, const char* name);

// A scheduler under a name of the user's own.
struct NamedContext {
  std::string name{};
  std::string server{};       // HOST:PORT; empty: one on this machine
  std::string state{};        // its state directory then
  std::string credentials{};  // with a server: the folder of the certificate
  std::string user{};         // in the certificate; empty: not known
  bool operator==(const NamedContext&) const = default;
};

// What the file of contexts holds.
struct Contexts {
  std::string current{};  // the name of one; empty: none
  std::vector<NamedContext> all{};

  const NamedContext* find(const std::string& name) const;
  const NamedContext* of_server(const std::string& server) const;
  // In the place of one of that name, or as the last.
  void put(NamedContext context);
  // False: there is none of that name.
  bool remove(const std::string& name);
};

// $XDG_CONFIG_HOME/orrery, else ~/.config/orrery; empty: neither variable is set. By the XDG rules
// a path that is not absolute counts as not set.
std::string config_directory(const Variables& environment);
// $XDG_STATE_HOME/orrery, else ~/.local/state/orrery; the same.
std::string default_state_directory(const Variables& environment);

// contexts.json in the config directory; an error if there is no such directory.
Result<std::string> contexts_file(const Variables& environment);

// No file is no contexts.
Result<Contexts> read_contexts(const std::string& file);
Result<Contexts> read_contexts(const Variables& environment);
// Reads the file, changes what it holds and writes it, one process at a time. Readers see the old
// file or the new one; only its owner may read it. An error of `change` leaves it as it is.
Status change_contexts(const std::string& file, const std::function<Status(Contexts&)>& change);

// Refuses names that are not plain: they become names of folders.
Status check_context_name(const std::string& name);

// There is none of that name: which there are.
Error no_context(const std::string& name, const Contexts& contexts, const std::string& file);

}  // namespace orrery
