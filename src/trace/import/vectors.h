// trace/import/vectors.h — golden vectors for tests: the rows of a CSV file, compressed or not,
// cells by column name.
//
//   for (const VectorRow& row : VectorFile(folder + "/weights.csv")) row.number("weight");
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "trace/import/byte_source.h"
#include "trace/import/decompress.h"
#include "trace/import/line_reader.h"

namespace runqlab {

class VectorRow {
 public:
  using Cells = std::vector<std::string>;
  VectorRow(std::shared_ptr<const Cells> header, Cells cells)
      : header_(std::move(header)), cells_(std::move(cells)) {
    RQL_CHECK(cells_.size() == header_->size());
  }

  [[nodiscard]] const std::string& text(std::string_view column) const {
    const auto it = std::find(header_->begin(), header_->end(), column);
    RQL_CHECK(it != header_->end());
    return cells_[static_cast<size_t>(it - header_->begin())];
  }
  // Decimal, or hexadecimal after 0x.
  [[nodiscard]] int64_t number(std::string_view column) const {
    const std::string& cell = text(column);
    size_t used = 0;
    const int64_t value = std::stoll(cell, &used, cell.starts_with("0x") ? 16 : 10);
    RQL_CHECK(used == cell.size());
    return value;
  }
  [[nodiscard]] uint64_t natural(std::string_view column) const {
    const int64_t value = number(column);
    RQL_CHECK(value >= 0);
    return static_cast<uint64_t>(value);
  }
  [[nodiscard]] bool flag(std::string_view column) const { return number(column) != 0; }
  // The whole row, to name it in a message.
  [[nodiscard]] std::string to_string() const {
    std::string s;
    for (const std::string& cell : cells_) s += (s.empty() ? "" : ",") + cell;
    return s;
  }

 private:
  std::shared_ptr<const Cells> header_;
  Cells cells_;
};

class VectorFile {
 public:
  explicit VectorFile(const std::string& path) {
    const auto bytes = trace::decompressed(trace::open_file(path).value(), path).value();
    trace::LineReader lines(*bytes);
    std::shared_ptr<const VectorRow::Cells> header;
    std::string_view line;
    while (lines.next(line) == trace::LineReader::Next::line) {
      if (header == nullptr) {
        header = std::make_shared<const VectorRow::Cells>(split(line));
      } else {
        rows_.emplace_back(header, split(line));
      }
    }
    RQL_CHECK(!lines.failed());
    RQL_CHECK(!rows_.empty());
  }

  [[nodiscard]] auto begin() const { return rows_.begin(); }
  [[nodiscard]] auto end() const { return rows_.end(); }
  [[nodiscard]] size_t size() const { return rows_.size(); }

 private:
  // A quoted cell may hold commas.
  static VectorRow::Cells split(std::string_view line) {
    VectorRow::Cells cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    return cells;
  }

  std::vector<VectorRow> rows_;
};

}  // namespace runqlab
