// machine/machine_toml.h — toml++ with this project's settings. Every file that needs it includes
// it here: the library is inline code, and two settings in one program would break the ODR.
#pragma once

// Mistakes of the user are values.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0

// toml++ 3.3 asserts in its parser on malformed input ("a = [}"), and with NDEBUG it assumes
// instead that such input never comes. With the assertion gone and nothing assumed, the same code
// reports an ordinary syntax error.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)

#include <toml++/toml.h>

#pragma pop_macro("NDEBUG")
