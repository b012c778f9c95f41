# Warnings and sanitizers for one target; -Werror only where CI asks for it.
function(runqlab_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor
                         -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False positives of g++ 12 with -O2 on std::vector and coroutine frames.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
                           -Wno-maybe-uninitialized -Wno-restrict -Wno-dangling-pointer)
  else()
    target_compile_options(${target} PRIVATE -Wno-sign-conversion)  # g++ does not count it in
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
