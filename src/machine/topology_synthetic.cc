#include "machine/topology_synthetic.h"

#include <hwloc.h>

#include <string>

#include "base/numbers.h"

namespace runqlab::machine {
namespace {

constexpr std::string_view kExample = "example: \"pack:2 [numa] l3:1 core:18 pu:2\"";
constexpr std::string_view kLevels = "levels: pack, die, numa, group, l3, l2, l1, core, pu";
constexpr std::string_view kBlanks = " \t\r\n";

Error error_at(size_t pos, std::string message, std::string_view token, std::string_view hint) {
  return Error{.message = std::move(message),
               .file = "(topology)",
               .line = 1,
               .column = static_cast<uint32_t>(pos + 1),
               .token = std::string(token),
               .hint = std::string(hint)};
}

bool read_type(const std::string& text, hwloc_obj_type_t& type) {
  return hwloc_type_sscanf(text.c_str(), &type, nullptr, 0) == 0;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { shape_.nr_cpus = 1; }

  Result<SyntheticShape> run() {
    skip_blanks();
    // Attributes before the first level belong to the machine.
    if (peek() == '(') {
      if (Status s = attributes(); !s) return s.error();
    }
    for (skip_blanks(); pos_ < text_.size(); skip_blanks()) {
      Status s = peek() == '[' ? attached() : level();
      if (!s) return s.error();
    }
    if (levels_ == 0) return error_at(0, "empty topology", "", kExample);
    if (!ends_in_pu_) {
      return error_at(last_pos_, "no PU level: the last level must be the CPUs", last_,
                      "append \"pu:1\"");
    }
    return shape_;
  }

 private:
  [[nodiscard]] char peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }
  void skip_blanks() {
    while (pos_ < text_.size() && kBlanks.find(text_[pos_]) != std::string_view::npos) ++pos_;
  }
  // From pos_ to the next of `stops` or the end.
  std::string_view take_until(std::string_view stops) {
    const size_t from = pos_;
    pos_ = text_.find_first_of(stops, from);
    if (pos_ == std::string_view::npos) pos_ = text_.size();
    return text_.substr(from, pos_ - from);
  }

  // "(…)"; notes the value of indexes=.
  Status attributes() {
    const size_t from = pos_++;
    const std::string_view inside = take_until(")");
    if (peek() != ')') return error_at(from, "this bracket is not closed", "(", kExample);
    ++pos_;
    constexpr std::string_view kIndexes = "indexes=";
    const size_t at = inside.find(kIndexes);
    indexes_ = {};
    if (at != std::string_view::npos) {
      indexes_ = inside.substr(at + kIndexes.size());
      indexes_ = indexes_.substr(0, indexes_.find_first_of(kBlanks));
    }
    return Ok{};
  }

  // "[numa]" or "[numa(memory=…)]".
  Status attached() {
    const size_t from = pos_++;
    const std::string_view inside = take_until("]");
    if (peek() != ']') return error_at(from, "this bracket is not closed", "[", kExample);
    ++pos_;
    hwloc_obj_type_t t{};
    if (!read_type(std::string(inside.substr(0, inside.find('('))), t) || t != HWLOC_OBJ_NUMANODE) {
      return error_at(from + 1, "only numa can stand in brackets", inside, kExample);
    }
    return Ok{};
  }

  Status level() {
    const size_t from = pos_;
    const std::string_view word = take_until(" \t\r\n(");
    const size_t colon = word.find(':');
    bool is_pu = true;  // a bare arity at the end means PUs
    if (colon != std::string_view::npos) {
      const std::string type(word.substr(0, colon));
      hwloc_obj_type_t t{};
      // hwloc aborts on memory-side caches and devices.
      if (!read_type(type, t) || (hwloc_obj_type_is_normal(t) == 0 && t != HWLOC_OBJ_NUMANODE)) {
        return error_at(from, "unknown level", type, kLevels);
      }
      if (t == HWLOC_OBJ_MACHINE) {
        return error_at(from, "the machine is implicit", word, "leave this level out");
      }
      is_pu = t == HWLOC_OBJ_PU;
    }
    if (seen_pu_) return error_at(from, "nothing can follow the PU level", word, kExample);
    seen_pu_ = colon != std::string_view::npos && is_pu;
    ends_in_pu_ = is_pu;
    last_ = word;
    last_pos_ = from;
    ++levels_;

    const std::string_view digits = colon == std::string_view::npos ? word : word.substr(colon + 1);
    const size_t digits_pos = colon == std::string_view::npos ? from : from + colon + 1;
    const auto arity = parse_u64(digits);
    if (!arity) {
      return error_at(digits_pos, "expected \"type:number\"", word, kExample);
    }
    if (*arity == 0) return error_at(digits_pos, "a level needs at least one element", word, "");
    if (*arity > kMaxCpus / shape_.nr_cpus) {
      return error_at(digits_pos, "more than " + std::to_string(kMaxCpus) + " CPUs", word, "");
    }
    shape_.nr_cpus *= static_cast<size_t>(*arity);
    shape_.pu_indexes = {};
    if (peek() == '(') {
      if (Status s = attributes(); !s) return s;
      shape_.pu_indexes = indexes_;
    }
    return Ok{};
  }

  std::string_view text_;
  size_t pos_ = 0;
  size_t levels_ = 0;
  bool seen_pu_ = false;
  bool ends_in_pu_ = false;
  std::string_view last_;
  size_t last_pos_ = 0;
  std::string_view indexes_;
  SyntheticShape shape_;
};

}  // namespace

Result<SyntheticShape> check_synthetic(std::string_view text) { return Scanner(text).run(); }

}  // namespace runqlab::machine
