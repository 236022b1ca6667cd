#pragma once

#include <memory>
#include <string>

#include "attack/logins.h"
#include "system/live.h"

namespace orrery {

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

  static void expect_refused(const Finished& run, const Words& said);
};

}  // namespace orrery
