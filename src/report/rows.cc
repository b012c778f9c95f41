#include "report/rows.h"

#include <algorithm>
#include <map>

namespace runqlab::report {
namespace {

std::string row_name(const Workload& w, const std::vector<size_t>& tasks) {
  const TaskSpec& first = w.tasks[TaskId::of(tasks[0])];
  if (tasks.size() > 1) return first.name + ":(" + std::to_string(tasks.size()) + ")";
  const int pid = first.pid != 0 ? first.pid : static_cast<int>(tasks[0]) + 1;
  return first.name + ':' + std::to_string(pid);
}

Row sum(std::string name, const std::vector<Row>& rows, size_t from) {
  Row out{.name = std::move(name), .columns = {}};
  for (size_t i = from; i < rows.size(); ++i) {
    out.columns.resize(rows[i].columns.size());
    for (size_t c = 0; c < out.columns.size(); ++c) out.columns[c].merge(rows[i].columns[c]);
  }
  return out;
}

}  // namespace

std::vector<Row> make_rows(const Workload& w, const std::vector<const TaskColumn*>& columns,
                           const RowOptions& options) {
  std::vector<std::vector<size_t>> groups;
  std::map<std::string, size_t> by_comm;
  for (size_t i = 0; i < w.tasks.size(); ++i) {
    const std::string& name = w.tasks[TaskId::of(i)].name;
    if (!options.comms.empty() &&
        std::find(options.comms.begin(), options.comms.end(), name) == options.comms.end()) {
      continue;
    }
    if (options.by == GroupBy::task) {
      groups.push_back({i});
      continue;
    }
    const auto [it, fresh] = by_comm.emplace(name, groups.size());
    if (fresh) groups.emplace_back();
    groups[it->second].push_back(i);
  }
  std::vector<Row> rows;
  for (const auto& group : groups) {
    Row row{.name = row_name(w, group), .columns = {}};
    for (const TaskColumn* column : columns) {
      analysis::TaskMetrics m;
      for (const size_t i : group) m.merge((*column)[i]);
      row.columns.push_back(std::move(m));
    }
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.columns[0].cpu > b.columns[0].cpu; });
  Row total = sum("TOTAL", rows, 0);
  if (rows.size() > options.most) {
    Row rest = sum(std::to_string(rows.size() - options.most) + " others", rows, options.most);
    rows.resize(options.most);
    rows.push_back(std::move(rest));
  }
  if (!total.columns.empty()) rows.push_back(std::move(total));
  return rows;
}

}  // namespace runqlab::report
