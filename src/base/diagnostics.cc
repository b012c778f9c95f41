#include "base/diagnostics.h"

namespace runqlab {

Diagnostics::Kind& Diagnostics::kind_of(Severity severity, std::string_view kind) {
  auto it = kinds_.find(kind);
  if (it == kinds_.end()) it = kinds_.emplace(std::string(kind), Kind{severity}).first;
  return it->second;
}

void Diagnostics::add(Severity severity, std::string_view kind, Error where) {
  Kind& k = kind_of(severity, kind);
  ++k.count;
  if (k.first.size() < kKept) k.first.push_back(std::move(where));
}

void Diagnostics::add(Severity severity, std::string_view kind, uint64_t count) {
  if (count != 0) kind_of(severity, kind).count += count;
}

void Diagnostics::merge(const Diagnostics& other) {
  for (const auto& [name, from] : other.kinds_) {
    Kind& k = kind_of(from.severity, name);
    k.count += from.count;
    for (const Error& e : from.first) {
      if (k.first.size() < kKept) k.first.push_back(e);
    }
  }
}

uint64_t Diagnostics::count(std::string_view kind) const {
  auto it = kinds_.find(kind);
  return it == kinds_.end() ? 0 : it->second.count;
}

uint64_t Diagnostics::total(Severity severity) const {
  uint64_t n = 0;
  for (const auto& [name, k] : kinds_) {
    if (k.severity == severity) n += k.count;
  }
  return n;
}

}  // namespace runqlab
