#include "analysis/preempt_rows.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/numbers.h"
#include "sched/fair.h"
#include "trace/import/byte_source.h"
#include "trace/import/decompress.h"
#include "trace/import/line_reader.h"

namespace runqlab::analysis {
namespace {

using sched::Entity;
using sched::Task;

enum Column : size_t {
  t_ns,
  rqcpu,
  nr,
  cpid,
  cvr,
  cwt,
  cse,
  cpse,
  ppid,
  pvr,
  pwt,
  wf,
  resched,  // both policies
  cdl,
  pdl,
  cvl,
  pvl,
  csl,
  psl  // EEVDF
};
constexpr std::array<std::string_view, 19> kColumns = {
    "t_ns", "rqcpu", "nr",      "cpid", "cvr", "cwt", "cse", "cpse", "ppid", "pvr",
    "pwt",  "wf",    "resched", "cdl",  "pdl", "cvl", "pvl", "csl",  "psl"};
constexpr size_t kCfsColumns = 13;

using Row = std::array<int64_t, kColumns.size()>;

constexpr int64_t kForkFlag = 0x4;
constexpr int64_t kWakeupFlag = 0x8;
constexpr uint64_t kIdleStored = sched::kIdlePolicyWeight << sched::kWeightShift;
constexpr int64_t kSelectedFlag = 0x80;  // the wakee was placed, and queued for that
constexpr int64_t kTickNs = 4'000'000;
// Virtual times of one queue do not lie this far apart.
constexpr int64_t kOtherQueueNs = 1'000'000'000;

// The recorded queue: who runs and who woke. Others are not in the row.
class TwoTasks {
 public:
  TwoTasks(const sched::KernelConfig& kernel, size_t nr_cpus)
      : k_(sched::fair_params(kernel, nr_cpus, Duration::millis(4))),
        tasks_(2),
        fair_(k_, tasks_, overload_) {}

  // curr has run for `uncharged_ns` since its vruntime was brought up to date.
  bool preempts(const Row& row, bool need_resched, int64_t uncharged_ns) {
    sched::Rq rq;
    Task& curr = tasks_[TaskId(0)];
    Task& wakee = tasks_[TaskId(1)];
    curr = wakee = Task{};
    set(curr, TaskId(0), row[cvr], row[cwt], row[cdl], row[csl]);
    set(wakee, TaskId(1), row[pvr], row[pwt], row[pdl], row[psl]);
    curr.se.vprot = row[cvl];
    curr.se.sum_exec_ns = row[cse];
    curr.se.prev_sum_exec_ns = row[cpse];
    curr.se.on_rq = true;
    rq.cfs.curr = &curr.se;
    rq.cfs.nr_queued = static_cast<uint32_t>(row[nr]);
    rq.cfs.reference = row[cvr];
    wakee.se.on_rq = true;
    fair_.timeline_insert(rq.cfs, wakee.se);
    return fair_.wakeup_preempt(rq, wakee, (row[wf] & kForkFlag) != 0, need_resched,
                                SimTime::from_ns(uncharged_ns));
  }

 private:
  void set(Task& p, TaskId id, int64_t vruntime, int64_t weight, int64_t deadline, int64_t slice) {
    Entity& se = p.se;
    p.id = se.task = id;
    const auto stored = static_cast<uint64_t>(weight);
    se.load = {stored, sched::inverse_of(stored)};
    for (int nice = -20; nice < 20; ++nice) {
      if (sched::nice_weight(nice).stored == stored) se.load = sched::nice_weight(nice);
    }
    se.idle_policy = stored == kIdleStored;
    if (se.idle_policy) p.policy = Policy::idle;
    se.vruntime = vruntime;
    se.deadline = deadline;
    se.slice_ns = slice;
    se.custom_slice = slice != k_.base_slice_ns;
  }

  const sched::FairParams k_;
  IdVector<TaskId, Task> tasks_;
  bool overload_ = false;
  sched::FairClass fair_;
};

// A fork's check, or, where wakeups have a flag of their own (EEVDF), the balancer's. Before that
// the balancer's look like wakeups.
bool open_ended(const Row& row, bool wakeups_are_flagged) {
  const int64_t flags = row[wf];
  return (flags & kForkFlag) != 0 || (wakeups_are_flagged && (flags & kWakeupFlag) == 0);
}

// The checks on each CPU so far.
class Before {
 public:
  // curr has been asked to reschedule and has not been picked anew since.
  [[nodiscard]] bool asked(const Row& row) const {
    const auto it = asked_.find(row[rqcpu]);
    return it != asked_.end() && it->second[cpid] == row[cpid] && it->second[cpse] == row[cpse];
  }
  // The longest that curr can have run uncharged: since the last check on its queue that it was not
  // curr of, as then it had yet to be picked; the tick charges too. 0 when queueing the wakee has
  // charged it.
  [[nodiscard]] int64_t uncharged_ns(const Row& row) const {
    const bool placed = (row[wf] & kSelectedFlag) != 0 || (row[wf] & kWakeupFlag) == 0;
    if (placed) return 0;
    const auto it = last_.find(row[rqcpu]);
    if (it == last_.end() || it->second[cpid] == row[cpid]) return kTickNs;
    return std::clamp<int64_t>(row[t_ns] - it->second[t_ns], 0, kTickNs);
  }
  void note(const Row& row) {
    if (row[resched] != 0) asked_[row[rqcpu]] = row;
    last_[row[rqcpu]] = row;
  }

 private:
  std::map<int64_t, Row> asked_, last_;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  template <class F>
  Result<bool> each(F&& f) {  // true: the file has EEVDF's columns
    auto file = trace::open_file(path_);
    if (!file) return file.error();
    auto bytes = trace::decompressed(std::move(*file), path_);
    if (!bytes) return bytes.error();
    trace::LineReader lines(**bytes);
    std::string_view line;
    bool eevdf = false, has_header = false;
    while (lines.next(line) == trace::LineReader::Next::line) {
      if (line.empty()) continue;
      if (!has_header) {
        has_header = true;
        const auto found = header(line);
        if (!found) return wrong(lines, "not a file of preemption checks: no column " + missing_);
        eevdf = *found;
        continue;
      }
      Row row{};
      if (!parse(line, row)) return wrong(lines, "a row needs an integer in every column");
      f(row, eevdf);
    }
    if (lines.failed()) return lines.error();
    if (!has_header) return Error{.message = "the file is empty", .file = path_};
    return eevdf;
  }

 private:
  Error wrong(const trace::LineReader& lines, std::string why) const {
    return {.message = std::move(why), .file = path_, .line = lines.number()};
  }
  std::optional<bool> header(std::string_view line) {
    size_t found = 0;
    for (size_t i = 0; !line.empty(); ++i) {
      const std::string_view name = cut(line);
      place_.push_back(kColumns.size());
      for (size_t c = 0; c < kColumns.size(); ++c) {
        if (kColumns[c] != name) continue;
        place_[i] = c;
        ++found;
      }
    }
    if (found == kColumns.size()) return true;
    for (size_t c = 0; c < kCfsColumns; ++c) {
      if (std::find(place_.begin(), place_.end(), c) != place_.end()) continue;
      missing_ = kColumns[c];
      return std::nullopt;
    }
    return false;
  }
  bool parse(std::string_view line, Row& row) const {
    for (const size_t c : place_) {
      const std::string_view cell = cut(line);
      if (c == kColumns.size()) continue;
      const auto value = cell.starts_with("0x") ? hex(cell.substr(2)) : parse_i64(cell);
      if (!value) return false;
      row[c] = *value;
    }
    constexpr int64_t kFar = int64_t{1} << 60;
    for (const size_t c : {t_ns, cvr, pvr, cdl, pdl}) {
      if (row[c] < -kFar || row[c] > kFar) return false;
    }
    return row[cwt] > 0 && row[pwt] > 0 && row[nr] >= 0 && row[nr] <= UINT32_MAX;
  }
  static std::optional<int64_t> hex(std::string_view digits) {
    int64_t v = 0;
    if (digits.empty() || digits.size() > 8) return std::nullopt;
    for (const char d : digits) {
      const size_t n = std::string_view("0123456789abcdef").find(d);
      if (n == std::string_view::npos) return std::nullopt;
      v = v * 16 + static_cast<int64_t>(n);
    }
    return v;
  }
  static std::string_view cut(std::string_view& line) {
    const size_t comma = std::min(line.find(','), line.size());
    const std::string_view cell = line.substr(0, comma);
    line.remove_prefix(std::min(comma + 1, line.size()));
    return cell;
  }

  const std::string path_;
  std::vector<size_t> place_;
  std::string missing_;
};

}  // namespace

void PreemptTally::add(const PreemptTally& o) {
  for (const auto field :
       {&PreemptTally::rows, &PreemptTally::equal, &PreemptTally::only_model,
        &PreemptTally::only_kernel, &PreemptTally::third_task, &PreemptTally::groups,
        &PreemptTally::uncharged, &PreemptTally::open_end, &PreemptTally::curr_left}) {
    this->*field += o.*field;
  }
}

Result<PreemptTally> decide_preempt_rows(const std::string& path, const sched::KernelConfig& kernel,
                                         size_t nr_cpus) {
  TwoTasks queue(kernel, nr_cpus);
  Before before;
  PreemptTally t;
  bool other_policy = false;
  const auto eevdf = Reader(path).each([&](const Row& row, bool has_deadlines) {
    if (has_deadlines != kernel.features.eevdf) other_policy = true;
    if (other_policy) return;
    ++t.rows;
    const bool need_resched = before.asked(row);
    const int64_t uncharged = has_deadlines ? before.uncharged_ns(row) : 0;
    before.note(row);
    const bool itself = row[cpid] == row[ppid];
    if (!itself && row[nr] == 1) {
      ++t.curr_left;
      return;
    }
    if (open_ended(row, has_deadlines)) {
      ++t.open_end;
      return;
    }
    if (std::abs(row[cvr] - row[pvr]) > kOtherQueueNs) {
      ++t.groups;
      return;
    }
    if (has_deadlines && row[nr] > 2 && !need_resched && !itself) {
      ++t.third_task;
      return;
    }
    const bool model = !itself && queue.preempts(row, need_resched, 0);
    if (uncharged != 0 && !itself && queue.preempts(row, need_resched, uncharged) != model) {
      ++t.uncharged;
      return;
    }
    const bool recorded = row[resched] != 0;
    if (model == recorded) {
      ++t.equal;
    } else {
      ++(model ? t.only_model : t.only_kernel);
    }
  });
  if (!eevdf) return eevdf.error();
  if (other_policy) {
    return Error{.message = std::string("the rows are of a kernel with ") +
                            (*eevdf ? "EEVDF" : "CFS") + ", --kernel is " + kernel.arm(),
                 .file = path,
                 .hint = *eevdf ? "say --kernel 6.12.95 or another one from 6.6 on"
                                : "say --kernel 6.1.192 or another one before 6.6"};
  }
  return t;
}

}  // namespace runqlab::analysis
