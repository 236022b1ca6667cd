#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cloud/provider/testing/provider_subject.h"

namespace orrery {

// What the tests of every provider share. `Subject` derives from ProviderSubject.
template <class Subject>
class ProviderFixture : public testing::Test {
 public:
  Provider& provider() { return subject.provider(); }

  std::vector<ServerSpec> specs(int count, const std::string& job = "alpha") {
    const auto offer = subject.offer(OfferClass::Spot);
    EXPECT_TRUE(offer.has_value()) << "every provider has spot servers";
    std::vector<ServerSpec> made;
    for (int i = 0; offer && i < count; ++i) made.push_back(conformance_spec(job, i, *offer));
    return made;
  }

  void settle() {
    subject.advance(subject.settling());
    mirror.read(provider());
    // What ended in the meantime may be seen one reading later.
    mirror.read(provider());
  }

  std::vector<ServerSpec> running(int count) {
    const auto asked = specs(count);
    mirror.expect(asked);
    const auto made = provider().create_all(asked, asked.size());
    EXPECT_TRUE(made.ok()) << made.error().message;
    settle();
    return asked;
  }

  Subject subject;
  EventMirror mirror;
};

}  // namespace orrery
