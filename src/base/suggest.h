// base/suggest.h — "did you mean": the known names nearest to a misspelt one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace runqlab {

// Up to `max` names of `known`, nearest first, ties in the order of the alphabet. Near is: begins
// with `name`, or at most max(2, length / 3) edits away (insert, delete, replace, swap of two
// neighbours; upper and lower case are equal).
std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string_view> known, size_t max = 3);

// A hint for an Error: `did you mean "a" or "b"?`; with nothing near, the known names themselves,
// or, instead of more than a dozen, the command that lists them.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known,
                         std::string_view list_command = {});

}  // namespace runqlab
