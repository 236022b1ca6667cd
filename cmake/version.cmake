# The commit that is built. As a script (cmake -DSOURCE= -DVERSION= -DOUTPUT= -P) this file writes the
# source that says so, and leaves the file as it is while it says the same.
#
# find_commit(<source folder> <variable>): "0123456789ab", "0123456789ab, changed", or "unknown" where
# the folder is no git checkout of its own: a tarball, also one that was unpacked inside another checkout.
function(find_commit source variable)
  set(${variable} unknown PARENT_SCOPE)
  if(NOT EXISTS ${source}/.git)
    return()
  endif()
  execute_process(COMMAND git -C ${source} describe --always --abbrev=12 --exclude=* --dirty=,\ changed
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(${variable} ${commit} PARENT_SCOPE)
  endif()
endfunction()

# find_package_version(<source folder> <version> <variable> <date variable>): that of packages. It is the
# version for the tagged commit and for a tarball, an earlier one that grows with the time of the commit
# for others, and $ORRERY_PACKAGE_VERSION if that is set. The date is that of the commit.
function(find_package_version source version variable date_variable)
  find_commit(${source} commit)
  set(found ${version})
  set(date "Thu, 01 Jan 1970 00:00:00 +0000")
  if(NOT commit STREQUAL unknown)
    set(ENV{TZ} UTC)
    execute_process(COMMAND git -C ${source} log -1 --format=%cd --date=format-local:%Y%m%d%H%M%S
                    OUTPUT_VARIABLE time OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND git -C ${source} log -1 --format=%cD OUTPUT_VARIABLE date
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND git -C ${source} describe --exact-match --match v${version}
                    RESULT_VARIABLE no_release OUTPUT_QUIET ERROR_QUIET)
    if(no_release)
      string(REPLACE ", changed" "+changed" commit ${commit})
      set(found "${version}~git${time}.${commit}")
    endif()
  endif()
  if(DEFINED ENV{ORRERY_PACKAGE_VERSION})
    set(found $ENV{ORRERY_PACKAGE_VERSION})
  endif()
  set(${variable} ${found} PARENT_SCOPE)
  set(${date_variable} ${date} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  find_commit(${SOURCE} commit)
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[#include "apps/build_version.h"

namespace orrery {

std::string build_version(const char* program) {
  return std::string(program) + " @VERSION@ (commit @commit@)";
}

}  // namespace orrery
]])
endif()
