# What `cmake --install` puts where: the parts core, server, agent and train, which are packages too.
# Programs find each other from their own places (base/own_program.h). What names a place, or depends on
# the prefix, is written while it is installed: with DESTDIR and with any --prefix.
include(packaging/cpack.cmake)
if(NOT ORRERY_ONLY_TRAIN)
  install(TARGETS orrery RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT core)
  install(TARGETS orrery-whole orrery-job RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/orrery COMPONENT core)
  install(FILES README.md CHANGELOG.md NOTICE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/orrery COMPONENT core)
  install(DIRECTORY data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/orrery/examples COMPONENT core)
  install(FILES packaging/lintian/orrery DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT core)
  install(FILES packaging/sysusers/orrery.conf DESTINATION lib/sysusers.d COMPONENT server)
endif()
if(ORRERY_TRAIN)
  install(TARGETS orrery-train RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT train)
endif()

# place(<part> <code>): code that is run while a part is installed.
function(place part code)
  install(CODE "set(SOURCE \"${PROJECT_SOURCE_DIR}\")\nset(BINARY \"${PROJECT_BINARY_DIR}\")
set(VERSION \"${PROJECT_VERSION}\")\nset(MAINTAINER \"${ORRERY_MAINTAINER}\")\nset(BINDIR \"${CMAKE_INSTALL_BINDIR}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/place.cmake\")\n${code}" COMPONENT ${part})
endfunction()

if(NOT ORRERY_ONLY_TRAIN)
  place(core "place_descriptions(orrery \"$<TARGET_FILE:orrery-whole>\")\nplace_documents(orrery)")
  place(server "place_service(orrery-server)\nplace_config(default orrery-server)
place_config(logrotate.d orrery-server)\nplace_documents(orrery-server)")
  place(agent "place_service(orrery-agent)\nplace_service(orrery-jobs)
place_config(default orrery-agent)\nplace_documents(orrery-agent)")
endif()
if(ORRERY_TRAIN)
  place(train "place_descriptions(orrery-train \"$<TARGET_FILE:orrery-train>\")\nplace_documents(orrery-train)")
endif()
