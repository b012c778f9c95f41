// From raw pieces to programs: costs taken out, affinity and class inferred, the workload built.
#include <algorithm>

#include "base/hash.h"
#include "trace/kernel_threads.h"
#include "trace/replay_builder.h"

namespace runqlab::trace {
namespace {

// A task may not use a CPU if it never ran there although it waited behind others so often and so
// long, most of the time with that CPU idle; or if it waited for whole ticks beside the idle CPU
// since it ran there, while an idle CPU pulls what it may.
constexpr uint32_t kPinnedWaits = 20;
constexpr int64_t kPinnedWaitNs = 2'000'000;
constexpr uint32_t kPinnedLongWaits = 3;

bool shuns(const CpuEvidence& e) {
  const bool never = !e.ran && e.waits >= kPinnedWaits && e.waited_ns >= kPinnedWaitNs &&
                     2 * e.idle_ns >= e.waited_ns;
  return never || e.long_waits >= kPinnedLongWaits;
}

Program replayed(Arena&, const std::vector<Op>* ops) {
  for (const Op& o : *ops) co_yield o;
}

// To the microsecond, as recordings print it.
std::string seconds(int64_t ns) {
  const std::string fraction = std::to_string(ns / 1000 % 1'000'000);
  return std::to_string(ns / 1'000'000'000) + '.' + std::string(6 - fraction.size(), '0') +
         fraction;
}

// Appends the pieces of one program; neighbouring runs become one.
class PieceWriter {
 public:
  explicit PieceWriter(std::vector<Op>& ops) : ops_(ops) {}

  void add(Op o) { ops_.push_back(o); }
  void run(int64_t work) {
    if (work == 0) return;
    if (!ops_.empty() && ops_.back().kind == OpKind::run) {
      ops_.back().amount += work;
    } else {
      ops_.push_back(op::run(Duration::nanos(work)));
    }
  }
  // Costs that do not fit into this piece of work are taken out of the next ones.
  int64_t work_after_costs(int64_t work, int64_t costs, uint64_t& clamped) {
    carry_ += costs;
    const int64_t left = work - carry_;
    carry_ = left < 0 ? -left : 0;
    if (left < 0) ++clamped;
    return left < 0 ? 0 : left;
  }

 private:
  std::vector<Op>& ops_;
  int64_t carry_ = 0;
};

}  // namespace

// Where the task may run, and from which of its ops on.
ReplayBuilder::Affinity ReplayBuilder::infer_affinity(const TaskTrack& t) const {
  const std::string& comm = names_.text(t.comm);
  if (const auto it = options_.affinity.find(comm); it != options_.affinity.end()) {
    return {it->second, 0};
  }
  if (const int cpu = percpu_thread_cpu(comm); cpu >= 0) return {std::to_string(cpu), 0};
  CpuMask mask = CpuMask::all(cpus_.size());
  size_t from_op = 0;
  for (size_t i = 0; i < t.evidence.size(); ++i) {
    const CpuEvidence& e = t.evidence[i];
    if (!shuns(e) && !e.excluded) continue;
    mask.clear(CpuId::of(i));
    from_op = std::max(from_op, e.left_at_op);
  }
  if (mask.count() == cpus_.size() || mask.empty()) return {};
  return {mask.to_list(), from_op};
}

machine::Tracing ReplayBuilder::tracing() const {
  machine::Tracing tr;
  const auto has = [&](EventKind k) {
    return static_cast<uint8_t>(seen_[static_cast<size_t>(k)] != 0 ? 1 : 0);
  };
  const auto set = [&](RecordKind k, int n) {
    tr.events[static_cast<size_t>(k)] = static_cast<uint8_t>(n);
  };
  // sched_wakeup is left out on both sides, so that a recording without it gives the same program.
  set(RecordKind::sched_switch, has(EventKind::sched_switch));
  set(RecordKind::waking, has(EventKind::sched_waking));
  set(RecordKind::migrate, has(EventKind::sched_migrate_task));
  set(RecordKind::fork, has(EventKind::sched_process_fork));
  set(RecordKind::exit, has(EventKind::sched_process_exit));
  set(RecordKind::ipi_send, has(EventKind::ipi_send));
  set(RecordKind::ipi_entry, has(EventKind::vector_entry));
  set(RecordKind::tick, has(EventKind::vector_entry) + has(EventKind::hrtimer_expire));
  set(RecordKind::timer_fire, has(EventKind::vector_entry) + has(EventKind::hrtimer_expire));
  set(RecordKind::softirq, has(EventKind::softirq_raise) + 2 * has(EventKind::softirq_entry));
  set(RecordKind::idle_enter, has(EventKind::cpu_idle));
  set(RecordKind::idle_exit, has(EventKind::cpu_idle));
  tr.runtime_events = has(EventKind::sched_stat_runtime);
  return tr;
}

// What it uses of a CPU while recorded, of 1024.
uint16_t ReplayBuilder::average_util(const TaskTrack& t) const {
  int64_t ran = 0;
  for (const RawOp& o : t.ops) ran += o.op.kind == OpKind::run ? o.op.amount : 0;
  return static_cast<uint16_t>(
      std::clamp<int64_t>(ran / ((last_ns_ - start_ns_) / 1024 + 1), 0, 1024));
}

Result<Replay> ReplayBuilder::finish(const ImportSummary& import) {
  if (refusal_) return *refusal_;
  if (import.events == 0) {
    return Error{.message = "no event of the recording lies in the window",
                 .file = file_,
                 .hint = "it runs from " + seconds(import.file_first_ns) + " to " +
                         seconds(import.file_last_ns) + " s"};
  }
  if (seen_[static_cast<size_t>(EventKind::sched_switch)] == 0) {
    return Error{.message = "the recording holds no sched_switch event with a CPU",
                 .file = file_,
                 .hint = "record with `perf sched record` or `trace-cmd record -e sched`"};
  }
  Replay out;
  out.import = import;
  out.start_ns = start_ns_;
  out.span = Duration::nanos(last_ns_ - start_ns_);
  out.nr_cpus = static_cast<uint32_t>(cpus_.size());
  out.tracing = tracing();
  for (TaskTrack& t : tracks_) {
    if (t.where == Where::running) t.advance(last_ns_);
    if (!t.early.is_set) continue;
    tracks_[t.early.waker].ops[t.early.op].dropped = true;
    ++counts_.not_blocked;
  }
  if (!chunk_.empty()) recorded_.consume(chunk_);
  chunk_.clear();

  settle_unflagged();
  insert_rendezvous();
  if (options_.irq_wakeups == IrqWakeups::inferred) {
    for (TaskTrack& t : tracks_) put_timers_on_clock(t);
  }
  auto programs = std::make_shared<Programs>();
  Workload& w = out.workload;
  for (TaskTrack& t : tracks_) {
    std::vector<Op>& ops = programs->emplace_back();
    // Text formats carry no flags: a task that mostly sleeps right after its wakeups uses a call
    // with the hint (pipe, socket), one that goes on does not (futex).
    const bool sync = options_.sync_hint == SyncHint::always ||
                      (options_.sync_hint == SyncHint::inferred && 2 * t.promises_kept >= t.wakes);
    PieceWriter out_ops(ops);
    size_t inserted = 0;
    std::stable_sort(
        t.insertions.begin(), t.insertions.end(),
        [](const Insertion& a, const Insertion& b) { return a.op_index < b.op_index; });
    const Affinity affinity = t.comm.valid() ? infer_affinity(t) : Affinity{};
    if (!affinity.cpus.empty() && percpu_thread_cpu(names_.text(t.comm)) < 0) {
      ++counts_.inferred_pinned;
    }
    for (size_t i = 0; i < t.ops.size(); ++i) {
      const RawOp& raw = t.ops[i];
      if (i == affinity.from_op && i != 0 && !affinity.cpus.empty()) {
        out_ops.add(op::bare(op::set_affinity(static_cast<uint32_t>(w.cpu_lists.size()))));
        w.cpu_lists.push_back(affinity.cpus);
      }
      if (raw.dropped) continue;
      if (raw.op.kind != OpKind::run) {
        Op o = raw.op;
        if (o.kind == OpKind::wake) o.sync = sync;
        out_ops.add(o);
        continue;
      }
      int64_t left = out_ops.work_after_costs(
          raw.op.amount, raw.debt_ns * options_.cost_correction_pct / 100, counts_.clamped);
      for (; inserted < t.insertions.size() && t.insertions[inserted].op_index == i; ++inserted) {
        const Insertion& in = t.insertions[inserted];
        const int64_t at = in.offset_ns >= 0 ? in.offset_ns : left + in.offset_ns + 1;
        const int64_t first = std::clamp<int64_t>(at, 0, left);
        out_ops.run(first);
        left -= first;
        out_ops.add(in.op);
      }
      out_ops.run(left);
    }
    if (t.where != Where::gone) {
      ops.push_back(op::bare(op::block()));  // beyond the recording nothing is known
    }
    const std::string& comm = t.comm.valid() ? names_.text(t.comm) : "?";
    TaskSpec spec;
    spec.name = comm;
    spec.pid = t.pid;
    const SchedParams params = params_of(t.first_prio);
    spec.policy = is_stopper(comm, t.first_prio) ? Policy::stop : params.policy;
    spec.nice = params.nice;
    spec.rt_priority = params.rt_priority;
    if (params.policy == Policy::deadline) {
      diagnostics_.add(Severity::skipped, "deadline tasks, re-run above every FIFO priority",
                       Error{.message = "pid " + std::to_string(t.pid), .file = file_});
    }
    spec.percpu_kthread = percpu_thread_cpu(comm) >= 0;
    if (affinity.from_op == 0) spec.allowed = affinity.cpus;
    spec.start = t.where == Where::unknown ? TaskStart::blocked : t.start;
    spec.start_time = sim_time(t.start_ns);
    spec.start_cpu = t.first_cpu.valid() ? t.first_cpu : CpuId(0);
    if (spec.start != TaskStart::forked) spec.settled_util = average_util(t);
    w.tasks.push_back(std::move(spec));
  }
  std::stable_sort(arrivals_.begin(), arrivals_.end(),
                   [](const Arrival& a, const Arrival& b) { return a.time < b.time; });
  w.name = file_;
  w.arrivals = std::move(arrivals_);
  const int64_t tick = machine_.tick().ns();
  w.tick_offset = Duration::nanos((tick - start_ns_ % tick) % tick);
  attach_programs(out, std::move(programs));
  counts_.tasks = tracks_.size();
  out.counts = counts_;
  return out;
}

void attach_programs(Replay& replay, std::shared_ptr<const Programs> programs) {
  Workload& w = replay.workload;
  Hash64 h;
  for (size_t i = 0; i < w.tasks.size(); ++i) {
    TaskSpec& spec = w.tasks[TaskId::of(i)];
    const std::vector<Op>* ops = &(*programs)[i];
    spec.program = [ops](Arena& arena) { return replayed(arena, ops); };
    h.add(static_cast<uint64_t>(spec.policy) << 32 | static_cast<uint64_t>(spec.start) << 24 |
          static_cast<uint64_t>(spec.nice + 20) << 8 | static_cast<uint64_t>(spec.rt_priority));
    h.add(static_cast<uint64_t>(spec.start_time.ns()));
    h.add(spec.start_cpu.value());
    h.add(spec.allowed);
    for (const Op& o : *ops) {
      h.add(static_cast<uint64_t>(o.kind) << 48 | static_cast<uint64_t>(o.sync) << 47 |
            static_cast<uint64_t>(o.bare) << 46 | static_cast<uint64_t>(o.detail) << 32 | o.target);
      h.add(static_cast<uint64_t>(o.amount));
    }
  }
  for (const Arrival& a : w.arrivals) {
    h.add(static_cast<uint64_t>(a.time.ns()));
    h.add(static_cast<uint64_t>(a.task.value()) << 32 | static_cast<uint64_t>(a.context) << 16 |
          a.cpu.value());
    h.add(static_cast<uint64_t>(a.duration.ns()));
  }
  h.add(static_cast<uint64_t>(w.tick_offset.ns()));
  for (const std::string& list : w.cpu_lists) h.add(list);
  w.content_hash = h.value();
  w.keep_alive = programs;
  replay.programs = std::move(programs);
}

Result<Replay> load_replay(const std::string& path, const machine::MachineSpec& machine,
                           const ReplayOptions& options, RecordSink& recorded,
                           Diagnostics& diagnostics) {
  StringPool names;
  ReplayBuilder builder(machine, options, path, names, recorded, diagnostics);
  const ImportOptions window{.from_ns = options.from_ns, .to_ns = options.to_ns};
  auto import =
      import_file(path, window, names, diagnostics, [&](const Event& e) { builder.add(e); });
  if (!import) return import.error();
  return builder.finish(*import);
}

}  // namespace runqlab::trace
