#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/time.h"

namespace orrery {

// A service account with a key of its own, made once for a test program.
struct FakeAccount {
  std::string email = "trainer@fake-project.iam.gserviceaccount.com";
  std::string private_key{};
  std::string public_key{};
};
const FakeAccount& fake_account();
// The key file of the account, for a token endpoint at `token_url`.
std::string fake_key_file(const std::string& token_url);

// The tokens that the service has given out.
class FakeTokens {
 public:
  Duration life = std::chrono::hours(1);

  // The answer of the token endpoint to a form: status and JSON. The signature, the audience and
  // the times of the statement inside are checked.
  std::pair<int, std::string> trade(std::string_view form, std::string_view audience, Time now);
  // A token without a statement, as the metadata server gives it.
  std::string give(Time now);
  bool accepts(std::string_view token, Time now) const;
  void revoke_all() { ends_.clear(); }
  int given() const { return given_; }
  // All secrets so far: tokens, and the signed statements they were given for.
  const std::vector<std::string>& secrets() const { return secrets_; }

 private:
  std::map<std::string, Time, std::less<>> ends_;
  std::vector<std::string> secrets_;
  int given_ = 0;
};

}  // namespace orrery
