#pragma once

#include <memory>
#include <string>

#include "attack/logins.h"
#include "system/live.h"

namespace orrery {

// The port of the HOST:PORT in a file.
int port_in(const std::string& path);

// A scheduler among logins that do not trust each other. Its folder can be passed by all of them.
class AttackTest : public LiveTest {
 protected:
  AttackTest();

  // Skips the test where there can be no logins. ann runs things, bob attacks.
  bool with_logins();
  const Login& ann() const { return *logins().ann; }
  const Login& bob() const { return *logins().bob; }

  // A scheduler of ann's own, with its state in STATE below her home.
  std::string anns_state() const { return file("anns/state"); }
  std::string anns_folder() const;  // is made, hers, 0755
  std::unique_ptr<Background> serve_as_ann(const Words& more = {});

  // What `GET /v1/jobs` over HTTPS answers to the certificate PAIR.pem; status 0: no answer.
  struct RestReply {
    int status = 0;
    std::string body{};
  };
  static RestReply rest_jobs(const std::string& state, const std::string& pair);

  static void expect_refused(const Finished& run, const Words& said);
};

}  // namespace orrery
