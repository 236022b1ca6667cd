# Only the files that use these two paths are compiled with them, so that ccache serves a second clone.
# A file that starts to use them needs a new run of CMake.
function(define_paths)
  foreach(file ${ARGN})
    file(STRINGS ${file} uses REGEX "ORRERY_(SHARED|SOURCE)" LIMIT_COUNT 1)
    if(uses)
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS
                   ORRERY_SHARED="${PROJECT_SOURCE_DIR}/../shared" ORRERY_SOURCE="${PROJECT_SOURCE_DIR}")
    endif()
  endforeach()
endfunction()

# room(<name> HOLDS "<sentences>" [NEEDS <room>...] [LIBS <target>...] [TEST_NEEDS <room>...] [TEST_LIBS <target>...]
#      [TESTS_TOGETHER] [TESTS_COMPUTE] [OWN_HEADERS])
#
# One folder, one library. Every *.cc in it and in its subfolders belongs to it, except *_test.cc and
# what stands in a folder testing/, which several tests share: they become <name>_test. A subfolder with a CMakeLists.txt of its own is left out.
# HOLDS says what the room is for; tools/draw_rooms.py writes it into ARCHITECTURE.md. NEEDS is the
# whole truth about which other rooms this one may include; tools/check_rooms.py reads it from here.
# TEST_NEEDS adds rooms that only the tests may include. TESTS_TOGETHER runs them in one process: for
# rooms whose libraries take longer to load than most tests take to run. TESTS_COMPUTE: they take
# seconds of CPU time, and are optimized a little. OWN_HEADERS: for rooms
# compiled as one file, whose headers are those of a library.
function(room name)
  cmake_parse_arguments(ARG "TESTS_TOGETHER;TESTS_COMPUTE;OWN_HEADERS" "HOLDS" "NEEDS;LIBS;TEST_NEEDS;TEST_LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  file(GLOB_RECURSE others RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} */CMakeLists.txt)
  foreach(other ${others})
    get_filename_component(folder ${other} DIRECTORY)
    if(folder)
      list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}/")
    endif()
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/testing/[^/]*)\\.cc$")
  list(FILTER tests INCLUDE REGEX "(_test|/testing/[^/]*)\\.cc$")
  if(sources)
    add_library(${name} STATIC ${sources})
    if(NOT ARG_OWN_HEADERS)
      read_headers_once(${name} rooms)
    endif()
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} ${scope} ${ARG_NEEDS} ${ARG_LIBS})
  if(tests AND ORRERY_TESTS)
    add_executable(${name}_test ${tests})
    if(ARG_TESTS_COMPUTE)
      read_headers_once(${name}_test computing_tests)
    else()
      read_headers_once(${name}_test tests)
    endif()
    target_link_libraries(${name}_test PRIVATE ${name} ${ARG_TEST_NEEDS} ${ARG_TEST_LIBS} GTest::gtest_main)
    define_paths(${tests})
    if(ARG_TESTS_TOGETHER)
      add_test(NAME ${name}_test COMMAND ${name}_test)
    else()
      gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60)
    endif()
  endif()
endfunction()
