# Warnings and sanitizers for one target; -Werror only where CI asks for it.
function(runqlab_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor
                         -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False positives of g++ 12 on std::vector and coroutine frames.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
                           -Wno-maybe-uninitialized -Wno-restrict -Wno-dangling-pointer
                           -Wno-mismatched-new-delete)
  else()
    # g++ does not count the first in; libstdc++ 12 uses what it deprecates in stable_sort.
    target_compile_options(${target} PRIVATE -Wno-sign-conversion -Wno-deprecated-declarations)
  endif()
  if(RUNQLAB_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(RUNQLAB_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${RUNQLAB_SANITIZE}
                           -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${RUNQLAB_SANITIZE})
  endif()
endfunction()
