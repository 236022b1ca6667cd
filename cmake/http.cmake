# http_parts: what an HTTP client or server needs, with TLS. It may be included more than once.
if(NOT TARGET http_parts)
  find_package(OpenSSL REQUIRED)
  find_package(ZLIB REQUIRED)
  pkg_check_modules(httplib REQUIRED cpp-httplib)
  add_library(http_parts INTERFACE)
  target_link_libraries(http_parts INTERFACE ${httplib_LINK_LIBRARIES} OpenSSL::SSL OpenSSL::Crypto
                                             ZLIB::ZLIB Threads::Threads)
  target_compile_options(http_parts INTERFACE ${httplib_CFLAGS})
endif()
