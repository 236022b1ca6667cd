#pragma once

#include <string>

#include "base/result.h"

namespace orrery {

struct ServersArguments {
  int count = 4;
  double cores = 0;  // of each
  double link = 0;   // bytes a second of each, either way; 0: not accounted for
  std::string listen = "127.0.0.1";
  std::string folder{};
  bool considers = true;
};

// `servers`: keeps the book of servers that several runs on this machine share, until SIGINT or
// SIGTERM. Its folder then holds where it listens (`servers`: ADDRESS PORT PID), its token, and
// what it decided (`book.csv`). One line says where it listens, and one each which jobs came and
// left.
Status servers_command(const ServersArguments& arguments);

}  // namespace orrery
