# protobuf_parts: what messages need at link time. grpc_parts: what gRPC and the HTTP server need
# besides.
#
# A program linked with the shared libraries spends most of a short call in the dynamic linker: about
# sixty of them, with their initialisers. So what is there as an archive is linked in. OpenSSL stays
# shared, because the HTTP server's library brings it along, and one process must not have two.
find_package(Protobuf REQUIRED)
include(${CMAKE_CURRENT_LIST_DIR}/http.cmake)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

set(grpc_names grpc++ grpc address_sorting upb gpr cares re2 protobuf)
set(grpc_archives)
foreach(name ${grpc_names})
  find_library(ORRERY_ARCHIVE_${name} lib${name}.a)
  mark_as_advanced(ORRERY_ARCHIVE_${name})
  list(APPEND grpc_archives ${ORRERY_ARCHIVE_${name}})
endforeach()
find_library(ORRERY_ARCHIVE_absl libabsl_base.a)
mark_as_advanced(ORRERY_ARCHIVE_absl)
set(grpc_static ON)
if("${grpc_archives};${ORRERY_ARCHIVE_absl}" MATCHES "NOTFOUND")
  set(grpc_static OFF)
endif()
option(ORRERY_STATIC_RPC "Link gRPC and what it needs as archives" ${grpc_static})

add_library(protobuf_parts INTERFACE)
add_library(grpc_parts INTERFACE)
if(ORRERY_STATIC_RPC)
  get_filename_component(folder ${ORRERY_ARCHIVE_absl} DIRECTORY)
  file(GLOB absl_archives ${folder}/libabsl_*.a)
  # A helper of abseil's own tests, which needs their library.
  list(FILTER absl_archives EXCLUDE REGEX "distribution_test_util")
  target_link_libraries(protobuf_parts INTERFACE ${ORRERY_ARCHIVE_protobuf} -lz Threads::Threads)
  # The archives need each other in circles, and zlib after them: named as a library CMake would put
  # it before, where it stands for others already.
  target_link_libraries(grpc_parts INTERFACE -Wl,--start-group ${grpc_archives} ${absl_archives} -lz
                                             -Wl,--end-group)
else()
  find_package(gRPC CONFIG REQUIRED)
  target_link_libraries(protobuf_parts INTERFACE protobuf::libprotobuf)
  target_link_libraries(grpc_parts INTERFACE gRPC::grpc++ protobuf::libprotobuf
                                             absl::synchronization)
endif()
target_link_libraries(grpc_parts INTERFACE http_parts ${CMAKE_DL_LIBS})
