#include "trace/program_blob.h"

#include <cstring>
#include <type_traits>

#include "base/numbers.h"
#include "engine/event_queue.h"

namespace runqlab::trace {
namespace {

constexpr std::string_view kMagicName = "runqlab-program-";
constexpr std::string_view kMagic = "runqlab-program-2\n";
constexpr uint64_t kMaxTasks = EventQueue::kMaxSlots;
constexpr int64_t kMaxNs = EventQueue::kMaxTime.ns();

class Writer {
 public:
  template <class T>
  void put(T v) {
    static_assert(std::is_trivially_copyable_v<T>);
    out_.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  void put_text(std::string_view s) {
    put<uint32_t>(static_cast<uint32_t>(s.size()));
    out_.append(s);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Every read checks what is left; after a failure all reads give zeros.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T v{};
    if (sizeof v > bytes_.size()) {
      failed_ = true;
      bytes_ = {};
      return v;
    }
    std::memcpy(&v, bytes_.data(), sizeof v);
    bytes_.remove_prefix(sizeof v);
    return v;
  }
  std::string get_text() {
    const auto n = get<uint32_t>();
    if (n > bytes_.size()) {
      failed_ = true;
      return {};
    }
    std::string s(bytes_.substr(0, n));
    bytes_.remove_prefix(n);
    return s;
  }
  // A count of things that take at least `least` bytes each.
  uint64_t get_count(size_t least) {
    const auto n = get<uint64_t>();
    if (n > bytes_.size() / least) failed_ = true;
    return failed_ ? 0 : n;
  }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

bool is_cpu_list(const std::string& text) {
  return parse_cpu_list(text, [](uint32_t, uint32_t) {});
}

// Whether what is read is a workload that can be run: the simulation takes that for granted.
class Plausible {
 public:
  Plausible(uint32_t nr_cpus, size_t tasks, size_t lists)
      : nr_cpus_(nr_cpus), lists_(lists), forks_(tasks) {}

  [[nodiscard]] bool task(const TaskSpec& t) const {
    const bool class_ok = t.policy == Policy::stop || parameters(t.policy, t.nice, t.rt_priority);
    return class_ok && t.start <= TaskStart::forked && moment(t.start_time.ns()) &&
           cpu(t.start_cpu) && is_cpu_list(t.allowed);
  }

  bool op(const Op& o) {
    switch (o.kind) {
      case OpKind::wake:
        return o.target < forks_.size() && o.detail <= static_cast<uint8_t>(WakeContext::hardirq);
      case OpKind::fork:
        return o.target < forks_.size() && ++forks_[o.target] == 1;
      case OpKind::set_sched: {
        const auto policy = static_cast<Policy>(o.detail);
        const bool fair = policy == Policy::normal;
        return (o.target < forks_.size() || o.target == TaskId::none().value()) &&
               parameters(policy, fair ? o.amount : 0, fair ? 0 : o.amount);
      }
      case OpKind::set_affinity:
        return o.target < lists_;
      case OpKind::run:
      case OpKind::sleep:
      case OpKind::sleep_until:
        return moment(o.amount);
      case OpKind::block:
      case OpKind::yield:
      case OpKind::exit:
        return true;
      default:  // a recording has no pipes
        return false;
    }
  }

  bool arrival(const Arrival& a) {
    if (!moment(a.time.ns()) || !moment(a.duration.ns()) || a.time < last_arrival_) return false;
    last_arrival_ = a.time;
    handlers_ns_ += a.duration.ns();
    // All interrupts together cannot take longer than all CPUs have time.
    return cpu(a.cpu) && (!a.task.valid() || a.task.index() < forks_.size()) &&
           a.context <= WakeContext::hardirq && handlers_ns_ < kMaxNs * nr_cpus_;
  }

  // The tasks that another one starts are those that say so.
  [[nodiscard]] bool forks(const IdVector<TaskId, TaskSpec>& tasks) const {
    for (size_t i = 0; i < forks_.size(); ++i) {
      if (forks_[i] != 0 && tasks[TaskId::of(i)].start != TaskStart::forked) return false;
    }
    return true;
  }

 private:
  static bool moment(int64_t ns) { return ns >= 0 && ns < kMaxNs; }
  [[nodiscard]] bool cpu(CpuId c) const { return !c.valid() || c.value() < nr_cpus_; }
  // What a priority of a recording can mean (task_track.h, params_of).
  static bool parameters(Policy policy, int64_t nice, int64_t rt_priority) {
    switch (policy) {
      case Policy::normal:
        return nice >= -20 && nice <= 19 && rt_priority == 0;
      case Policy::fifo:
        return nice == 0 && rt_priority >= 1 && rt_priority <= 99;
      case Policy::deadline:
        return nice == 0 && rt_priority == 0;
      default:
        return false;
    }
  }

  uint32_t nr_cpus_;
  size_t lists_;
  std::vector<uint32_t> forks_;  // how often each task is started by another
  int64_t handlers_ns_ = 0;
  SimTime last_arrival_;
};

}  // namespace

std::string to_blob(const Replay& r) {
  Writer w;
  const Workload& load = r.workload;
  w.put_text(kMagic);
  w.put(r.start_ns);
  w.put(r.span.ns());
  w.put(r.nr_cpus);
  w.put(r.tracing);
  w.put(load.tick_offset.ns());
  w.put<uint64_t>(load.cpu_lists.size());
  for (const std::string& s : load.cpu_lists) w.put_text(s);
  w.put<uint64_t>(load.tasks.size());
  for (size_t i = 0; i < load.tasks.size(); ++i) {
    const TaskSpec& t = load.tasks[TaskId::of(i)];
    w.put_text(t.name);
    w.put(t.pid);
    w.put(t.policy);
    w.put(t.nice);
    w.put(t.rt_priority);
    w.put_text(t.allowed);
    w.put(t.percpu_kthread);
    w.put(t.start);
    w.put(t.start_time.ns());
    w.put(t.start_cpu.value());
    w.put<int32_t>(t.settled_util ? *t.settled_util : -1);
    const std::vector<Op>& ops = (*r.programs)[i];
    w.put<uint64_t>(ops.size());
    for (const Op& o : ops) w.put(o);
  }
  w.put<uint64_t>(load.arrivals.size());
  for (const Arrival& a : load.arrivals) {
    w.put(a.time.ns());
    w.put(a.cpu.value());
    w.put(a.task.value());
    w.put(a.duration.ns());
    w.put(a.context);
  }
  return w.take();
}

Result<Replay> from_blob(std::string_view bytes, const std::string& name) {
  const auto bad = [&](const char* what, const char* hint = "copy the file or make it again") {
    return Error{.message = std::string("the stored programs are damaged: ") + what,
                 .file = name,
                 .hint = hint};
  };
  Reader in(bytes);
  if (const std::string magic = in.get_text(); magic != kMagic) {
    if (!magic.starts_with(kMagicName)) return bad("wrong beginning");
    return Error{.message = "the stored programs have the layout of another version",
                 .file = name,
                 .token = magic,
                 .hint = "make the file again with this version"};
  }
  Replay r;
  Workload& load = r.workload;
  load.name = name;
  r.start_ns = in.get<int64_t>();
  r.span = Duration::nanos(in.get<int64_t>());
  r.nr_cpus = in.get<uint32_t>();
  r.tracing = in.get<machine::Tracing>();
  load.tick_offset = Duration::nanos(in.get<int64_t>());
  if (load.tick_offset < Duration{} || load.tick_offset > Duration::seconds(1)) {
    return bad("tick offset");
  }
  if (r.nr_cpus == 0 || r.nr_cpus > kMaxCpus) return bad("number of CPUs");
  const uint64_t lists = in.get_count(4);
  if (lists > kMaxTasks) return bad("too many CPU lists");
  for (uint64_t i = 0; i < lists; ++i) {
    if (!is_cpu_list(load.cpu_lists.emplace_back(in.get_text()))) return bad("a CPU list");
  }
  const uint64_t tasks = in.get_count(32);
  if (tasks > kMaxTasks) return bad("too many tasks");
  Plausible plausible(r.nr_cpus, tasks, lists);
  auto programs = std::make_shared<Programs>();
  for (uint64_t i = 0; i < tasks && !in.failed(); ++i) {
    TaskSpec t;
    t.name = in.get_text();
    t.pid = in.get<int32_t>();
    t.policy = in.get<Policy>();
    t.nice = in.get<int>();
    t.rt_priority = in.get<int>();
    t.allowed = in.get_text();
    t.percpu_kthread = in.get<uint8_t>() != 0;
    t.start = in.get<TaskStart>();
    t.start_time = SimTime::from_ns(in.get<int64_t>());
    t.start_cpu = CpuId(in.get<uint16_t>());
    const auto util = in.get<int32_t>();
    if (util < -1 || util > 1024) return bad("a task's utilization");
    if (util >= 0) t.settled_util = static_cast<uint16_t>(util);
    if (!plausible.task(t)) return bad("a task's parameters");
    std::vector<Op> ops;
    const uint64_t n = in.get_count(sizeof(Op));
    ops.reserve(n);
    for (uint64_t k = 0; k < n; ++k) {
      Op o;
      o.kind = in.get<OpKind>();
      o.sync = in.get<uint8_t>() != 0;
      o.bare = in.get<uint8_t>() != 0;
      o.detail = in.get<uint8_t>();
      o.target = in.get<uint32_t>();
      o.amount = in.get<int64_t>();
      if (!plausible.op(o)) return bad("an operation");
      ops.push_back(o);
    }
    load.tasks.push_back(std::move(t));
    programs->push_back(std::move(ops));
  }
  for (uint64_t n = in.get_count(23); n != 0; --n) {
    Arrival a;
    a.time = SimTime::from_ns(in.get<int64_t>());
    a.cpu = CpuId(in.get<uint16_t>());
    a.task = TaskId(in.get<uint32_t>());
    a.duration = Duration::nanos(in.get<int64_t>());
    a.context = in.get<WakeContext>();
    if (!plausible.arrival(a)) return bad("an arrival");
    load.arrivals.push_back(a);
  }
  if (in.failed() || !in.at_end()) return bad("cut off or too long");
  if (!plausible.forks(load.tasks)) return bad("a task is started twice");
  attach_programs(r, std::move(programs));
  return r;
}

}  // namespace runqlab::trace
