#include "cloud/gce/testing/gce_harness.h"
#include "cloud/provider/testing/provider_conformance.h"

namespace orrery {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Gce, ProviderCreation, GceHarness);
INSTANTIATE_TYPED_TEST_SUITE_P(Gce, ProviderEnds, GceHarness);

}  // namespace
}  // namespace orrery
