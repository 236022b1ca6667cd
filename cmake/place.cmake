# Functions that cmake_install.cmake calls; see install.cmake.
include(${SOURCE}/cmake/version.cmake)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(SYSCONFDIR /etc)
  set(zsh_folder vendor-completions) # of Debian
else()
  set(SYSCONFDIR ${CMAKE_INSTALL_PREFIX}/etc)
  set(zsh_folder site-functions)
endif()

# A file that was made here, into a folder below the prefix.
function(place_file file folder)
  file(INSTALL ${file} DESTINATION ${CMAKE_INSTALL_PREFIX}/${folder}
       PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()

# Without the name and the time of the file in it, so that equal files stay equal.
function(compress file)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Man pages and completion, as the program describes itself.
function(place_descriptions name program)
  set(made ${BINARY}/descriptions/${name})
  file(REMOVE_RECURSE ${made})
  execute_process(COMMAND ${program} describe man --out ${made} COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB pages ${made}/*.1)
  foreach(page ${pages})
    compress(${page})
    place_file(${page}.gz share/man/man1)
  endforeach()
  foreach(shell bash zsh fish)
    execute_process(COMMAND ${program} describe ${shell} OUTPUT_FILE ${made}/${shell} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  file(RENAME ${made}/bash ${made}/${name})
  place_file(${made}/${name} share/bash-completion/completions)
  file(RENAME ${made}/zsh ${made}/_${name})
  place_file(${made}/_${name} share/zsh/${zsh_folder})
  file(RENAME ${made}/fish ${made}/${name}.fish)
  place_file(${made}/${name}.fish share/fish/vendor_completions.d)
endfunction()

function(place_service name)
  set(BINDIR ${CMAKE_INSTALL_PREFIX}/${BINDIR})
  configure_file(${SOURCE}/packaging/systemd/${name}.service.in ${BINARY}/descriptions/${name}.service @ONLY)
  place_file(${BINARY}/descriptions/${name}.service lib/systemd/system)
endfunction()

# Configuration that is there may have been changed by an administrator.
function(place_config folder name)
  set(from ${folder})
  string(REPLACE ".d" "" from ${from})
  if(EXISTS "$ENV{DESTDIR}${SYSCONFDIR}/${folder}/${name}")
    message(STATUS "Kept: $ENV{DESTDIR}${SYSCONFDIR}/${folder}/${name}")
    return()
  endif()
  file(INSTALL ${SOURCE}/packaging/${from}/${name} DESTINATION ${SYSCONFDIR}/${folder})
endfunction()

# What Debian asks of a package: copyright and changes.
function(place_documents package)
  set(made ${BINARY}/descriptions/${package}-doc)
  find_package_version(${SOURCE} ${VERSION} package_version date)
  file(WRITE ${made}/changelog "orrery (${package_version}) unstable; urgency=medium

  * What changed is in /usr/share/doc/orrery/CHANGELOG.md.

 -- ${MAINTAINER}  ${date}
")
  compress(${made}/changelog)
  place_file(${made}/changelog.gz share/doc/${package})
  place_file(${SOURCE}/packaging/deb/copyright share/doc/${package})
endfunction()
