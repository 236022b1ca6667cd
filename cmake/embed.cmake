# embed(<target> <file>...)
# embed_joined(<target> <name> <file>...)
#
# Makes each file a function of <target>, so that the program needs no files beside
# it. page/report.css becomes embedded_report_css(), declared where it is used. embed_joined makes
# one function of all its files, in their order. Run as a script (cmake -P) this file does the
# writing, because only the build knows when a file has changed.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "")
  string(REPLACE "|" ";" inputs "${EMBED_INPUT}")
  foreach(input IN LISTS inputs)
    file(READ "${input}" part)
    string(APPEND text "${part}")
  endforeach()
  # A raw literal keeps the text readable in the debugger; the delimiter must not occur in it.
  if(text MATCHES "\\)embedded\"")
    message(FATAL_ERROR "${inputs}: holds )embedded\", which ends the literal it is put in")
  endif()
  file(WRITE "${EMBED_OUTPUT}" "#include <string_view>

namespace orrery {

std::string_view ${EMBED_NAME}();
std::string_view ${EMBED_NAME}() {
  return R\"embedded(${text})embedded\";
}

}  // namespace orrery
")
  return()
endif()

set(EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(embed_joined target name)
  set(paths "")
  foreach(input ${ARGN})
    get_filename_component(path ${input} ABSOLUTE)
    list(APPEND paths ${path})
  endforeach()
  string(REPLACE ";" "|" joined "${paths}")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DEMBED_INPUT=${joined} -DEMBED_OUTPUT=${output} -DEMBED_NAME=${name}
            -P ${EMBED_SCRIPT}
    DEPENDS ${paths} ${EMBED_SCRIPT}
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

function(embed target)
  foreach(input ${ARGN})
    get_filename_component(file ${input} NAME)
    string(MAKE_C_IDENTIFIER embedded_${file} name)
    embed_joined(${target} ${name} ${input})
  endforeach()
endfunction()
