// base/diagnostics.h — warnings about user input: counted by kind, the first few kept in full.
// Nothing is skipped in silence: a repair or a skip is reported here, and --strict turns the
// count into an error.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace runqlab {

enum class Severity : uint8_t {
  info,     // worth knowing, nothing was lost
  repair,   // the input was inconsistent and was mended
  skipped,  // something in the input has no effect
};

class Diagnostics {
 public:
  struct Kind {
    Severity severity = Severity::info;
    uint64_t count = 0;
    std::vector<Error> first{};  // at most kKept
  };
  static constexpr size_t kKept = 3;

  // `kind` names what happened in a few words ("events out of order"); equal kinds are summed.
  void add(Severity severity, std::string_view kind, Error where);
  void add(Severity severity, std::string_view kind, uint64_t count = 1);

  // Sums `other` into this.
  void merge(const Diagnostics& other);

  [[nodiscard]] const std::map<std::string, Kind, std::less<>>& kinds() const { return kinds_; }
  [[nodiscard]] uint64_t count(std::string_view kind) const;
  [[nodiscard]] uint64_t total(Severity severity) const;
  [[nodiscard]] bool empty() const { return kinds_.empty(); }

 private:
  Kind& kind_of(Severity severity, std::string_view kind);
  std::map<std::string, Kind, std::less<>> kinds_;
};

}  // namespace runqlab
