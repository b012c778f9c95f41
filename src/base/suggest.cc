#include "base/suggest.h"

#include <algorithm>
#include <utility>

namespace runqlab {
namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins_with(std::string_view text, std::string_view start) {
  return text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

// Edit distance in which a swap of two neighbours is one edit: the commonest slip of the keyboard.
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> two_back(b.size() + 1);
  std::vector<size_t> back(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) back[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const char x = lower(a[i - 1]);
      const char y = lower(b[j - 1]);
      row[j] = std::min({back[j] + 1, row[j - 1] + 1, back[j - 1] + (x == y ? 0U : 1U)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2])) {
        row[j] = std::min(row[j], two_back[j - 2] + 1);
      }
    }
    std::swap(two_back, back);
    std::swap(back, row);
  }
  return back[b.size()];
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string_view> known, size_t max) {
  const size_t limit = std::max<size_t>(2, name.size() / 3);
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string_view k : known) {
    // Three letters: shorter beginnings fit too much.
    const bool begins = name.size() >= 3 && begins_with(k, name);
    const size_t d = begins ? 1 : edits(name, k);
    // A distance as long as the name means that nothing of it was kept.
    if (begins || (d <= limit && d < name.size())) near.emplace_back(d, k);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> out;
  for (size_t i = 0; i < near.size() && i < max; ++i) out.push_back(std::move(near[i].second));
  return out;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known,
                         std::string_view list_command) {
  constexpr size_t kFew = 12, kMost = 24;
  const std::vector<std::string> near = nearest_names(name, known);
  std::string text;
  if (!near.empty()) {
    text = "did you mean ";
    for (size_t i = 0; i < near.size(); ++i) {
      if (i != 0) text += i + 1 == near.size() ? " or " : ", ";
      text += '"' + near[i] + '"';
    }
    return text + '?';
  }
  if (list_command.empty() || known.size() <= kFew) {
    text = "known: ";
    for (size_t i = 0; i < known.size() && i < kMost; ++i) {
      text += (i == 0 ? "" : ", ") + std::string(known[i]);
    }
    if (known.size() > kMost) text += ", …";
    if (list_command.empty()) return text;
    text += "; ";
  }
  return text + "`" + std::string(list_command) + "` prints all";
}

}  // namespace runqlab
