#include "trace/import/field_reader.h"

#include <cstring>
#include <limits>

#include "trace/import/text_number.h"
#include "trace/import/text_scan.h"

namespace runqlab::trace {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

// Where the last `key=` begins that stands at the start of `text` or behind a blank.
size_t find_last_key(std::string_view text, std::string_view key) {
  size_t end = text.size();
  while (end > key.size()) {
    const void* hit = ::memrchr(text.data(), '=', end);
    if (hit == nullptr) return kNowhere;
    end = static_cast<size_t>(static_cast<const char*>(hit) - text.data());
    if (end < key.size()) return kNowhere;
    const size_t begin = end - key.size();
    if (text.substr(begin, key.size()) == key && (begin == 0 || text[begin - 1] == ' ')) {
      return begin;
    }
  }
  return kNowhere;
}

// A name that could not be printed appears as its bytes: "ARRAY[62, 61, …]".
std::string_view usable_name(std::string_view name) {
  return name.starts_with("ARRAY[") ? std::string_view() : name;
}

}  // namespace

void FieldReader::fail(std::string_view key, std::string_view value) {
  if (!ok()) return;
  flaw_ = key;
  flawed_value_ = value;
}

std::optional<std::string_view> FieldReader::take(std::string_view key) {
  const size_t begin = find_last_key(rest_, key);
  if (begin == kNowhere) {
    fail(key, {});
    return std::nullopt;
  }
  const std::string_view value = first_token(rest_.substr(begin + key.size() + 1));
  // Only the separator goes: a name may end in blanks.
  rest_ = rest_.substr(0, begin == 0 ? 0 : begin - 1);
  return value;
}

int64_t FieldReader::number_within(std::string_view key, int64_t least, int64_t most) {
  const auto value = take(key);
  if (!value) return 0;
  const auto n = parse_number(*value);
  if (n && *n >= least && *n <= most) return *n;
  fail(key, *value);
  return 0;
}

int64_t FieldReader::number(std::string_view key) {
  return number_within(key, std::numeric_limits<int64_t>::min(),
                       std::numeric_limits<int64_t>::max());
}

int32_t FieldReader::pid(std::string_view key) {
  return static_cast<int32_t>(number_within(key, 0, INT32_MAX));
}

CpuId FieldReader::cpu(std::string_view key) {
  return CpuId::of(static_cast<size_t>(number_within(key, 0, static_cast<int64_t>(kMaxCpu))));
}

int16_t FieldReader::prio(std::string_view key) {
  return static_cast<int16_t>(number_within(key, -1, INT16_MAX));
}

std::string_view FieldReader::word(std::string_view key) {
  return take(key).value_or(std::string_view());
}

std::string_view FieldReader::name(std::string_view key) {
  if (rest_.size() <= key.size() || !rest_.starts_with(key) || rest_[key.size()] != '=') {
    fail(key, {});
    return {};
  }
  return usable_name(rest_.substr(key.size() + 1));
}

std::string_view FieldReader::name(std::string_view key, std::string_view before) {
  std::string_view left = rest_;
  for (;;) {
    const size_t begin = find_last_key(left, key);
    if (begin == kNowhere) {
      fail(key, {});
      return {};
    }
    left = trim_right(left.substr(0, begin));
    if (left.ends_with(" ==>")) left = trim_right(left.substr(0, left.size() - 4));
    const std::string_view field = last_token(left);
    if (field.size() > before.size() && field.starts_with(before) && field[before.size()] == '=') {
      const std::string_view name = rest_.substr(begin + key.size() + 1);
      rest_ = left;
      return usable_name(name);
    }
  }
}

std::optional<int64_t> FieldReader::trailing_number(std::string_view key) {
  const std::string_view rest = trim_right(rest_);
  const std::string_view token = last_token(rest);
  if (token.size() <= key.size() || !token.starts_with(key) || token[key.size()] != '=') {
    return std::nullopt;
  }
  const auto n = parse_number(token.substr(key.size() + 1));
  if (!n) {
    fail(key, token.substr(key.size() + 1));
    return std::nullopt;
  }
  rest_ = without_last_token(rest);
  return n;
}

std::optional<std::string_view> first_field(std::string_view args, std::string_view key) {
  for (size_t from = 0; from < args.size();) {
    const std::string_view rest = trim_left(args.substr(from));
    const std::string_view token = first_token(rest);
    if (token.size() > key.size() && token.starts_with(key) && token[key.size()] == '=') {
      return token.substr(key.size() + 1);
    }
    from = args.size() - rest.size() + token.size();
  }
  return std::nullopt;
}

}  // namespace runqlab::trace
