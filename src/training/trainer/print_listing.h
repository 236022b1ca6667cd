#pragma once

#include "report/listing/listing.h"

namespace orrery {

// A list in the form asked for, on standard output.
Status print_listing(Listing listing, const ListArguments& arguments);

}  // namespace orrery
