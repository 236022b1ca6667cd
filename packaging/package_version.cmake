# Read by cpack when it runs: the version of a package has its commit.
include(${CPACK_ORRERY_SOURCE}/cmake/version.cmake)
find_package_version(${CPACK_ORRERY_SOURCE} ${CPACK_PACKAGE_VERSION} version date)
set(CPACK_DEBIAN_PACKAGE_VERSION ${version})
foreach(part SERVER AGENT)
  set(CPACK_DEBIAN_${part}_PACKAGE_DEPENDS "orrery (>= ${version}), adduser")
endforeach()
