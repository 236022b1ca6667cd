#pragma once

// What every provider promises, as tests. A provider's tests derive a class from ProviderSubject
// and write
//   INSTANTIATE_TYPED_TEST_SUITE_P(Mine, ProviderCreation, MySubject);
//   INSTANTIATE_TYPED_TEST_SUITE_P(Mine, ProviderEnds, MySubject);
#include "cloud/provider/testing/provider_creation_tests.h"
#include "cloud/provider/testing/provider_end_tests.h"
