# `make packages`: a .deb for each part (cmake/install.cmake), for the system that builds them.
set(ORRERY_MAINTAINER "Orrery maintainers <orrery@users.noreply.github.com>" CACHE STRING "Maintainer of packages")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME orrery)
set(CPACK_PACKAGE_VENDOR Orrery)
set(CPACK_PACKAGE_CONTACT "${ORRERY_MAINTAINER}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON) # so that installing sees the prefix of the package
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL)
if(NOT ORRERY_ONLY_TRAIN)
  set(CPACK_COMPONENTS_ALL core server agent)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/packaging/package_version.cmake)
set(CPACK_ORRERY_SOURCE ${PROJECT_SOURCE_DIR})

# package(<part> <name> <summary> <description> [SERVICE]): the fields of one package.
function(package part name summary description)
  cmake_parse_arguments(ARG "SERVICE" "" "" ${ARGN})
  string(TOUPPER ${part} key)
  set(scripts postinst prerm postrm conffiles)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${summary}\n${description}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  if(ARG_SERVICE)
    list(TRANSFORM scripts REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/packaging/deb/${name}/\\1")
    set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA "${scripts}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_ARCHITECTURE all PARENT_SCOPE)
  else()
    set(CPACK_DEBIAN_${key}_PACKAGE_SHLIBDEPS ON PARENT_SCOPE)
  endif()
endfunction()

package(core orrery "scheduler for deep-learning training, with its simulator"
"Simulates and compares scheduling policies over traces of GPU clusters, and
asks a live scheduler. The simulator is the scheduler: the same code decides on
real machines, with the packages orrery-server and orrery-agent.")
package(server orrery-server "scheduler of a GPU cluster as a service"
"Runs orrery serve for a cluster, as a user of its own." SERVICE)
package(agent orrery-agent "service that runs the jobs of orrery on a node"
"Runs orrery agent on a machine of the cluster. Jobs outlive its restarts." SERVICE)
if(ORRERY_TRAIN)
  list(APPEND CPACK_COMPONENTS_ALL train)
  package(train orrery-train "trainer that changes its mode when workers straggle"
"Trains models with parameter servers or all-reduce in several processes, and
selects the synchronisation mode by the stragglers it measures.")
endif()
include(CPack)
