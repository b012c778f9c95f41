#include "trace/import/payload.h"

#include <algorithm>
#include <iterator>

#include "trace/import/field_reader.h"
#include "trace/import/plugin_form.h"
#include "trace/import/task_state.h"
#include "trace/import/text_number.h"
#include "trace/import/text_scan.h"

namespace runqlab::trace {
namespace {

// An event while its fields are read. The names are added to the pool when all of it is sound.
struct Draft {
  Event& event;
  std::string_view args;
  std::string_view task_comm{}, other_comm{}, name{};
  FieldReader fields{args};
};

void plugin_switch(Draft& d, const PluginSwitch& s) {
  d.event.state = s.state.state;
  d.event.preempted = s.state.preempted;
  d.event.task_pid = s.prev.pid;
  d.event.prio = s.prev.prio;
  d.event.other_pid = s.next.pid;
  d.event.other_prio = s.next.prio;
  d.task_comm = s.prev.comm;
  d.other_comm = s.next.comm;
}

void sched_switch(Draft& d) {
  FieldReader& f = d.fields;
  d.event.other_prio = f.prio("next_prio");
  d.event.other_pid = f.pid("next_pid");
  d.other_comm = f.name("next_comm", "prev_state");
  const std::string_view state = f.word("prev_state");
  d.event.prio = f.prio("prev_prio");
  d.event.task_pid = f.pid("prev_pid");
  d.task_comm = f.name("prev_comm");
  if (f.ok()) {
    if (const auto s = parse_state(state); s) {
      d.event.state = s->state;
      d.event.preempted = s->preempted;
    } else {
      f.fail("prev_state", state);
    }
  } else if (const auto s = parse_plugin_switch(d.args); s) {
    f = FieldReader({});
    plugin_switch(d, *s);
  }
}

// A wakeup without success (possible until 4.3) changed nothing: the task was awake.
void wakeup(Draft& d) {
  FieldReader& f = d.fields;
  bool success = true;
  d.event.target = f.cpu("target_cpu");
  if (const auto n = f.trailing_number("success"); n) success = *n != 0;
  d.event.prio = f.prio("prio");
  d.event.task_pid = f.pid("pid");
  d.task_comm = f.name("comm");
  if (!f.ok()) {
    const auto w = parse_plugin_wakeup(d.args);
    if (!w) return;
    f = FieldReader({});
    d.event.target = w->cpu;
    d.event.prio = w->task.prio;
    d.event.task_pid = w->task.pid;
    d.task_comm = w->task.comm;
    success = w->success;
  }
  if (!success) {
    const Event& e = d.event;
    d.event = Event{.time_ns = e.time_ns,
                    .line = e.line,
                    .context = e.context,
                    .cpu = e.cpu,
                    .pid = e.pid,
                    .comm = e.comm};
    d.task_comm = {};
  }
}

void migrate_task(Draft& d) {
  FieldReader& f = d.fields;
  d.event.target = f.cpu("dest_cpu");
  d.event.value = f.cpu("orig_cpu").value();
  d.event.prio = f.prio("prio");
  d.event.task_pid = f.pid("pid");
  d.task_comm = f.name("comm");
}

void process_fork(Draft& d) {
  FieldReader& f = d.fields;
  d.event.other_pid = f.pid("child_pid");
  // Raw fields are called parent_*, printed ones are not.
  const bool raw = d.args.starts_with("parent_comm=");
  const std::string_view pid = raw ? "parent_pid" : "pid";
  d.other_comm = f.name("child_comm", pid);
  d.event.task_pid = f.pid(pid);
  d.task_comm = f.name(raw ? "parent_comm" : "comm");
}

void process_exec(Draft& d) {
  constexpr size_t kCommMax = 15;  // TASK_COMM_LEN with its terminator is 16
  FieldReader& f = d.fields;
  d.event.other_pid = f.pid("old_pid");
  d.event.task_pid = f.pid("pid");
  d.name = f.name("filename");
  const size_t slash = d.name.rfind('/');
  d.task_comm = d.name.substr(slash == std::string_view::npos ? 0 : slash + 1).substr(0, kCommMax);
}

void process_exit(Draft& d) {
  FieldReader& f = d.fields;
  d.event.prio = f.prio("prio");
  d.event.task_pid = f.pid("pid");
  d.task_comm = f.name("comm");
}

void stat_runtime(Draft& d) {
  FieldReader& f = d.fields;
  d.event.value = f.number("runtime");
  if (d.event.value < 0) f.fail("runtime", {});
  d.event.task_pid = f.pid("pid");
  d.task_comm = f.name("comm");
}

void pi_setprio(Draft& d) {
  FieldReader& f = d.fields;
  d.event.other_prio = f.prio("newprio");
  d.event.prio = f.prio("oldprio");
  d.event.task_pid = f.pid("pid");
  d.task_comm = f.name("comm");
}

// The first field of that name, which has no free text before it.
int64_t first_number(Draft& d, std::string_view key, int64_t most) {
  const auto text = first_field(d.args, key);
  const auto n = text ? parse_number(*text) : std::nullopt;
  if (n && *n >= 0 && *n <= most) return *n;
  d.fields.fail(key, text.value_or(std::string_view()));
  return 0;
}
CpuId first_cpu(Draft& d, std::string_view key) {
  return CpuId::of(static_cast<size_t>(first_number(d, key, static_cast<int64_t>(kMaxCpu))));
}

void irq(Draft& d) {
  d.event.value = first_number(d, "irq", INT32_MAX);
  // The action's name is the last field of the entry; the exit has none.
  if (const size_t at = d.args.find(" name="); at != std::string_view::npos) {
    d.name = d.args.substr(at + 6);
  }
}

void softirq(Draft& d) { d.event.value = first_number(d, "vec", INT32_MAX); }
void vector(Draft& d) { d.event.value = first_number(d, "vector", INT32_MAX); }

// "function=hrtimer_wakeup", which the plugin prints as "hrtimer_wakeup/0x0".
void hrtimer(Draft& d) {
  const auto function = first_field(d.args, "function");
  if (!function) return d.fields.fail("function", {});
  d.name = function->substr(0, function->find_first_of("/+"));
}

void ipi_cpu(Draft& d) { d.event.target = first_cpu(d, "cpu"); }
void ipi_mask(Draft&) {}
void idle_without_ipi(Draft& d) { d.event.target = first_cpu(d, "cpu"); }

void cpu_idle(Draft& d) {
  d.event.value = first_number(d, "state", kIdleExit);
  d.event.target = first_cpu(d, "cpu_id");
}

struct Known {
  std::string_view group, name;
  EventKind kind;
  void (*read)(Draft&);
  std::string_view handler{};  // Event::name of a vector
};

// The frequent ones first.
constexpr Known kKnown[] = {
    {"sched", "sched_switch", EventKind::sched_switch, sched_switch},
    {"sched", "sched_stat_runtime", EventKind::sched_stat_runtime, stat_runtime},
    {"sched", "sched_waking", EventKind::sched_waking, wakeup},
    {"sched", "sched_wakeup", EventKind::sched_wakeup, wakeup},
    {"power", "cpu_idle", EventKind::cpu_idle, cpu_idle},
    {"irq", "softirq_raise", EventKind::softirq_raise, softirq},
    {"irq", "softirq_entry", EventKind::softirq_entry, softirq},
    {"irq", "softirq_exit", EventKind::softirq_exit, softirq},
    {"sched", "sched_migrate_task", EventKind::sched_migrate_task, migrate_task},
    {"sched", "sched_wakeup_new", EventKind::sched_wakeup_new, wakeup},
    {"sched", "sched_process_fork", EventKind::sched_process_fork, process_fork},
    {"sched", "sched_process_exec", EventKind::sched_process_exec, process_exec},
    {"sched", "sched_process_exit", EventKind::sched_process_exit, process_exit},
    {"sched", "sched_pi_setprio", EventKind::sched_pi_setprio, pi_setprio},
    {"sched", "sched_wake_idle_without_ipi", EventKind::wake_idle_without_ipi, idle_without_ipi},
    {"ipi", "ipi_send_cpu", EventKind::ipi_send, ipi_cpu},
    {"ipi", "ipi_send_cpumask", EventKind::ipi_send, ipi_mask},
    {"timer", "hrtimer_expire_entry", EventKind::hrtimer_expire, hrtimer},
    {"irq", "irq_handler_entry", EventKind::irq_handler_entry, irq},
    {"irq", "irq_handler_exit", EventKind::irq_handler_exit, irq},
};

// x86 vectors whose events are NAME_entry and NAME_exit.
constexpr std::string_view kVectors[] = {
    "reschedule",
    "call_function_single",
    "call_function",
    "local_timer",
    "irq_work",
    "x86_platform_ipi",
    "thermal_apic",
    "threshold_apic",
    "deferred_error_apic",
    "error_apic",
    "spurious_apic",
};

Known known_vector(std::string_view name) {
  constexpr Known kNone{{}, {}, EventKind::other, nullptr};
  constexpr std::string_view kEntry = "_entry", kExit = "_exit";
  const bool entry = name.ends_with(kEntry);
  if (!entry && !name.ends_with(kExit)) return kNone;
  const std::string_view base = name.substr(0, name.size() - (entry ? kEntry : kExit).size());
  if (std::find(std::begin(kVectors), std::end(kVectors), base) == std::end(kVectors)) return kNone;
  return {"irq_vectors", name, entry ? EventKind::vector_entry : EventKind::vector_exit, vector,
          base};
}

Known find_known(std::string_view name) {
  for (const Known& k : kKnown) {
    if (k.name == name) return k;
  }
  return known_vector(name);
}

}  // namespace

PayloadFlaw parse_payload(std::string_view group, std::string_view event_name,
                          std::string_view args, NameCache& names, Event& event) {
  constexpr std::string_view kFailed = "[FAILED TO PARSE]";  // trace-cmd; raw fields follow
  const Known known = find_known(event_name);
  event.kind = EventKind::other;
  if (known.read == nullptr || (!group.empty() && group != known.group)) return {};
  if (args.starts_with(kFailed)) args = trim_left(args.substr(kFailed.size()));
  event.kind = known.kind;
  Draft draft{.event = event, .args = args};
  draft.name = known.handler;
  known.read(draft);
  if (!draft.fields.ok()) return {draft.fields.flaw(), draft.fields.flawed_value()};
  if (!draft.task_comm.empty()) event.task_comm = names.intern(draft.task_comm);
  if (!draft.other_comm.empty()) event.other_comm = names.intern(draft.other_comm);
  if (!draft.name.empty()) event.name = names.intern(draft.name);
  return {};
}

}  // namespace runqlab::trace
