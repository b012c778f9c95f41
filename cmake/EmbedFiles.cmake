# runqlab_embed_files(VAR OUTPUT FILE...): writes OUTPUT, a .cc that defines
# runqlab::machine::embedded_presets() with the text of every FILE, in ascending order of name, and
# puts its path into VAR. The text goes through quoted arguments and file(WRITE) only: lists would
# split it at ";" and stumble over "[", file(CONFIGURE) would replace "@name@".
function(runqlab_embed_files var output)
  set(names "")
  foreach(file IN LISTS ARGN)
    get_filename_component(name "${file}" NAME_WLE)
    list(APPEND names "${name}")
    # Relative to the caller's source directory, as file(READ) is.
    set(path_of_${name} "${file}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endforeach()
  list(SORT names)  # by name: "a" comes before "a-b", "a-b.toml" before "a.toml"

  set(text "// Written by cmake/EmbedFiles.cmake from data/machines; do not edit.\n")
  string(APPEND text "#include \"machine/embedded_presets.h\"\n\nnamespace runqlab::machine {\n\n")
  string(APPEND text "std::span<const EmbeddedPreset> embedded_presets() {\n")
  string(APPEND text "  static constexpr EmbeddedPreset kPresets[] = {\n")
  foreach(name IN LISTS names)
    file(READ "${path_of_${name}}" content)
    string(FIND "${content}" ")RQL\"" end_of_literal)
    if(NOT end_of_literal EQUAL -1)
      message(FATAL_ERROR "${path_of_${name}} contains )RQL\", the end of the literal around it")
    endif()
    string(APPEND text "      {\"${name}\", R\"RQL(${content})RQL\"},\n")
  endforeach()
  string(APPEND text "  };\n  return kPresets;\n}\n\n}  // namespace runqlab::machine\n")

  # Only when it changes, so that a new configure run does not recompile it.
  set(old "")
  if(EXISTS "${output}")
    file(READ "${output}" old)
  endif()
  if(NOT "${old}" STREQUAL "${text}")
    file(WRITE "${output}" "${text}")
  endif()
  set(${var} "${output}" PARENT_SCOPE)
endfunction()
