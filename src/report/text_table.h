// report/text_table.h — columns of text for a terminal.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/printable.h"

namespace runqlab::report {

// The first `left` columns are aligned to the left, the others to the right. What cannot be printed
// is replaced, and the names in the first column are shortened: a file may give a task any name.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head, size_t left = 2) : left_(left) {
    add(std::move(head));
  }
  void add(std::vector<std::string> cells) {
    widths_.resize(std::max(widths_.size(), cells.size()));
    for (size_t i = 0; i < cells.size(); ++i) {
      cells[i] = printable(cells[i]);
      if (i == 0) cells[i] = shortened(cells[i], kNameWidth);
      widths_[i] = std::max(widths_[i], count_characters(cells[i]));
    }
    lines_.push_back(std::move(cells));
  }
  [[nodiscard]] std::string print(std::string_view indent = "") const {
    std::string out;
    for (const auto& cells : lines_) {
      std::string line(indent);
      for (size_t i = 0; i < cells.size(); ++i) {
        const std::string pad(widths_[i] - count_characters(cells[i]), ' ');
        if (i != 0) line += "  ";
        line += i < left_ ? cells[i] + pad : pad + cells[i];
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + '\n';
    }
    return out;
  }

 private:
  static constexpr size_t kNameWidth = 40;

  size_t left_;
  std::vector<std::vector<std::string>> lines_;
  std::vector<size_t> widths_;
};

}  // namespace runqlab::report
