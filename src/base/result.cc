#include "base/result.h"

namespace runqlab {

std::string Error::to_string() const {
  std::string s;
  if (!file.empty()) {
    s += file;
    if (line != 0) s += ':' + std::to_string(line);
    if (line != 0 && column != 0) s += ':' + std::to_string(column);
    s += ": ";
  }
  s += message;
  if (!token.empty()) s += " (at \"" + token + "\")";
  if (!hint.empty()) s += "; " + hint;
  return s;
}

}  // namespace runqlab
