#include "trace/program_blob.h"

#include <cstring>
#include <type_traits>

namespace runqlab::trace {
namespace {

constexpr std::string_view kMagic = "runqlab-program-2\n";
constexpr uint64_t kMaxTasks = 200'000;

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

bool plausible(const TaskSpec& t) {
  return t.policy <= Policy::stop && t.start <= TaskStart::forked && t.nice >= -20 &&
         t.nice <= 19 && t.rt_priority >= 0 && t.rt_priority <= 99 && t.start_time >= SimTime{};
}

bool plausible(const Op& o, size_t tasks, size_t lists) {
  if (o.kind > OpKind::exit) return false;
  switch (o.kind) {
    case OpKind::wake:
      return o.target < tasks && o.detail <= static_cast<uint8_t>(WakeContext::hardirq);
    case OpKind::fork:
      return o.target < tasks;
    case OpKind::set_sched:
      return (o.target < tasks || o.target == TaskId::none().value()) &&
             o.detail <= static_cast<uint8_t>(Policy::deadline) && o.amount >= -20 &&
             o.amount <= 99;
    case OpKind::set_affinity:
      return o.target < lists;
    case OpKind::pipe_read:
    case OpKind::pipe_write:
      return false;  // a recording has no pipes
    default:
      return o.amount >= 0;
  }
}

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
  const auto bad = [&](const char* what) {
    return Error{.message = std::string("the stored programs are damaged: ") + what, .file = name};
  };
  Reader in(bytes);
  if (in.get_text() != kMagic) return bad("wrong beginning");
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
  for (uint64_t n = in.get_count(4); n != 0; --n) load.cpu_lists.push_back(in.get_text());
  const uint64_t tasks = in.get_count(32);
  if (tasks > kMaxTasks) return bad("too many tasks");
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
    if (util > 1024) return bad("a task's utilization");
    if (util >= 0) t.settled_util = static_cast<uint16_t>(util);
    if (!plausible(t)) return bad("a task's parameters");
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
      if (!plausible(o, tasks, load.cpu_lists.size())) return bad("an operation");
      ops.push_back(o);
    }
    load.tasks.push_back(std::move(t));
    programs->push_back(std::move(ops));
  }
  SimTime last;
  for (uint64_t n = in.get_count(23); n != 0; --n) {
    Arrival a;
    a.time = SimTime::from_ns(in.get<int64_t>());
    a.cpu = CpuId(in.get<uint16_t>());
    a.task = TaskId(in.get<uint32_t>());
    a.duration = Duration::nanos(in.get<int64_t>());
    a.context = in.get<WakeContext>();
    if (a.time < last || a.context > WakeContext::hardirq || a.duration < Duration{} ||
        (a.task.valid() && a.task.value() >= tasks)) {
      return bad("an arrival");
    }
    last = a.time;
    load.arrivals.push_back(a);
  }
  if (in.failed() || !in.at_end()) return bad("cut off or too long");
  attach_programs(r, std::move(programs));
  return r;
}

}  // namespace runqlab::trace
