// machine/embedded_presets.h — the text of data/machines/*.toml, compiled in (cmake/EmbedFiles).
#pragma once

#include <span>
#include <string_view>

namespace runqlab::machine {

struct EmbeddedPreset {
  std::string_view name;  // file name without .toml
  std::string_view text;
};

// In ascending order of name.
std::span<const EmbeddedPreset> embedded_presets();

}  // namespace runqlab::machine
