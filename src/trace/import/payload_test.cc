#include "trace/import/payload.h"

#include <gtest/gtest.h>

#include <string>

namespace runqlab::trace {
namespace {

using Kind = EventKind;
constexpr std::string_view kTrace = "";  // no group: ftrace's form

// One event's fields, names as text.
struct Fields {
  Kind kind = Kind::other;
  TaskState state = TaskState::running;
  bool preempted = false;
  CpuId target{};
  int32_t task_pid = -1, other_pid = -1;
  std::string task_comm{}, other_comm{};
  int prio = 0, other_prio = 0;
  std::string name{};
  int64_t value = 0;
  std::string flaw{};

  bool operator==(const Fields&) const = default;
};
void PrintTo(const Fields& f, std::ostream* os) {
  *os << "kind " << static_cast<int>(f.kind) << " state " << static_cast<int>(f.state)
      << (f.preempted ? "+" : "") << " target " << f.target.value() << " task " << f.task_pid
      << " '" << f.task_comm << "' other " << f.other_pid << " '" << f.other_comm << "' prio "
      << f.prio << ' ' << f.other_prio << " name '" << f.name << "' value " << f.value << " flaw '"
      << f.flaw << '\'';
}

Fields read(std::string_view event, std::string_view args, std::string_view group = kTrace) {
  StringPool pool;
  NameCache names(pool);
  Event e;
  const PayloadFlaw flaw = parse_payload(group, event, args, names, e);
  if (!flaw.key.empty()) {
    EXPECT_EQ(pool.size(), 0u);
    return {.flaw = std::string(flaw.key) + "=" + std::string(flaw.value)};
  }
  const auto text = [&](StrId id) { return id.valid() ? pool.text(id) : std::string(); };
  return {e.kind,     e.state,      e.preempted,       e.target,
          e.task_pid, e.other_pid,  text(e.task_comm), text(e.other_comm),
          e.prio,     e.other_prio, text(e.name),      e.value};
}

Fields switched(std::string prev, int32_t prev_pid, TaskState state, std::string next,
                int32_t next_pid) {
  return {.kind = Kind::sched_switch,
          .state = state,
          .task_pid = prev_pid,
          .other_pid = next_pid,
          .task_comm = std::move(prev),
          .other_comm = std::move(next),
          .prio = 120,
          .other_prio = 98};
}
Fields woken(Kind kind, std::string comm, int32_t pid, uint16_t cpu) {
  return {.kind = kind,
          .target = CpuId(cpu),
          .task_pid = pid,
          .task_comm = std::move(comm),
          .prio = 120};
}
Fields flawed(std::string flaw) { return {.flaw = std::move(flaw)}; }

TEST(SchedSwitch, PrintFormat) {
  EXPECT_EQ(read("sched_switch",
                 "prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 "
                 "next_prio=98"),
            switched("a", 1, TaskState::interruptible, "b", 2));
  Fields preempted = switched("a", 1, TaskState::running, "b", 2);
  preempted.preempted = true;
  EXPECT_EQ(read("sched_switch",
                 "prev_comm=a prev_pid=1 prev_prio=120 prev_state=R+ ==> next_comm=b next_pid=2 "
                 "next_prio=98"),
            preempted);
}

TEST(SchedSwitch, RawFields) {
  for (const char* state : {"1", "0x1"}) {
    EXPECT_EQ(read("sched_switch", std::string("prev_comm=a prev_pid=1 prev_prio=120 prev_state=") +
                                       state + " next_comm=b next_pid=2 next_prio=98"),
              switched("a", 1, TaskState::interruptible, "b", 2));
  }
}

TEST(SchedSwitch, PluginForm) {
  EXPECT_EQ(read("sched_switch", "a:1 [120] S ==> b:2 [98]"),
            switched("a", 1, TaskState::interruptible, "b", 2));
  // The plugin's Z is the kernel's X.
  EXPECT_EQ(read("sched_switch", "a:1 [120] Z ==> b:2 [98]"),
            switched("a", 1, TaskState::dead, "b", 2));
}

TEST(SchedSwitch, FailedToParse) {
  EXPECT_EQ(read("sched_switch",
                 "[FAILED TO PARSE] prev_comm=a prev_pid=1 prev_prio=120 prev_state=0x2 "
                 "next_comm=b next_pid=2 next_prio=98"),
            switched("a", 1, TaskState::uninterruptible, "b", 2));
  EXPECT_EQ(read("sched_switch",
                 "[FAILED TO PARSE] prev_comm=ARRAY[61, 00] prev_pid=1 prev_prio=120 prev_state=2 "
                 "next_comm=ARRAY[62, 00] next_pid=2 next_prio=98"),
            switched("", 1, TaskState::uninterruptible, "", 2));
  EXPECT_EQ(read("sched_switch", "[FAILED TO PARSE] prev_comm=a prev_pid=1"), flawed("next_prio="));
}

// Names of at most 15 characters, the longest the kernel allows.
TEST(SchedSwitch, NamesMayHoldAnything) {
  for (const std::string name : {"kworker/u8:3-ev", "CPU 24/KVM", "dev 0 ts", "a: b [001] 1.0",
                                 " prev_pid=7 x", "a next_pid=9", " next_comm=b", "S ==> next_comm",
                                 "a ==> b", "a:1 [2] S ==>", "x=y", "a  ", " next_prio=1"}) {
    EXPECT_EQ(
        read("sched_switch", "prev_comm=" + name + " prev_pid=1 prev_prio=120 prev_state=D ==> " +
                                 "next_comm=" + name + " next_pid=2 next_prio=98"),
        switched(name, 1, TaskState::uninterruptible, name, 2));
    EXPECT_EQ(read("sched_switch", "prev_comm=" + name + " prev_pid=1 prev_prio=120 prev_state=2 " +
                                       "next_comm=" + name + " next_pid=2 next_prio=98"),
              switched(name, 1, TaskState::uninterruptible, name, 2));
    EXPECT_EQ(read("sched_switch", name + ":1 [120] D ==> " + name + ":2 [98]"),
              switched(name, 1, TaskState::uninterruptible, name, 2));
  }
}

TEST(SchedSwitch, ASymbolMayFollow) {
  const auto expected = switched("a", 1, TaskState::interruptible, "b", 2);
  EXPECT_EQ(read("sched_switch",
                 "prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 "
                 "next_prio=98 ffffffff81000000 __schedule+0x1 ([kernel.kallsyms])"),
            expected);
  EXPECT_EQ(read("sched_switch",
                 "a:1 [120] S ==> b:2 [98] ffffffff81000000 __schedule+0x1 ([kernel.kallsyms])"),
            expected);
}

TEST(SchedSwitch, Impossible) {
  const auto with = [](const std::string& prev_pid, const std::string& state,
                       const std::string& next_prio) {
    return read("sched_switch", "prev_comm=a prev_pid=" + prev_pid + " prev_prio=120 prev_state=" +
                                    state + " ==> next_comm=b next_pid=2 next_prio=" + next_prio);
  };
  EXPECT_EQ(with("2147483648", "S", "98"), flawed("prev_pid=2147483648"));
  EXPECT_EQ(with("-1", "S", "98"), flawed("prev_pid=-1"));
  EXPECT_EQ(with("1", "Sleeping", "98"), flawed("prev_state=Sleeping"));
  EXPECT_EQ(with("1", "S", "40000"), flawed("next_prio=40000"));
  EXPECT_EQ(with("1", "S", ""), flawed("next_prio="));
  EXPECT_EQ(with("1", "S", "-1").other_prio, -1);
  EXPECT_EQ(read("sched_switch", ""), flawed("next_prio="));
  EXPECT_EQ(read("sched_switch", "a:2147483648 [120] S ==> b:2 [98]"), flawed("next_prio="));
}

TEST(Wakeups, AllDialects) {
  EXPECT_EQ(read("sched_waking", "comm=a pid=5 prio=120 target_cpu=003"),
            woken(Kind::sched_waking, "a", 5, 3));
  EXPECT_EQ(read("sched_wakeup", "comm=a pid=5 prio=120 success=1 target_cpu=003"),
            woken(Kind::sched_wakeup, "a", 5, 3));
  EXPECT_EQ(read("sched_wakeup_new", "a:5 [120] CPU:003"),
            woken(Kind::sched_wakeup_new, "a", 5, 3));
  EXPECT_EQ(read("sched_wakeup", "a:5 [120] success=1 CPU:003"),
            woken(Kind::sched_wakeup, "a", 5, 3));
}

TEST(Wakeups, WithoutSuccessNothingHappened) {
  EXPECT_EQ(read("sched_wakeup", "comm=a pid=5 prio=120 success=0 target_cpu=003"), Fields{});
  EXPECT_EQ(read("sched_wakeup", "a:5 [120] success=0 CPU:003"), Fields{});
}

TEST(Wakeups, NamesMayHoldAnything) {
  for (const std::string name : {"kworker/u8:3-ev", "a pid=7", "x target_cpu=1", "x success=0",
                                 "a CPU:001", "a:1 [2] CPU:3", "comm=x", "trailing  "}) {
    EXPECT_EQ(read("sched_waking", "comm=" + name + " pid=5 prio=120 target_cpu=003"),
              woken(Kind::sched_waking, name, 5, 3));
    EXPECT_EQ(read("sched_wakeup", name + ":5 [120] CPU:003"),
              woken(Kind::sched_wakeup, name, 5, 3));
  }
}

TEST(Wakeups, CpusThatCannotBe) {
  EXPECT_EQ(read("sched_waking", "comm=a pid=5 prio=120 target_cpu=8191").target, CpuId(8191));
  for (const std::string cpu : {"8192", "-1", "99999999999999999999", "x"}) {
    EXPECT_EQ(read("sched_waking", "comm=a pid=5 prio=120 target_cpu=" + cpu),
              flawed("target_cpu=" + cpu));
  }
}

TEST(OtherSchedEvents, Fields) {
  EXPECT_EQ(read("sched_migrate_task", "comm=a b pid=5 prio=120 orig_cpu=1 dest_cpu=2"),
            (Fields{.kind = Kind::sched_migrate_task,
                    .target = CpuId(2),
                    .task_pid = 5,
                    .task_comm = "a b",
                    .prio = 120,
                    .value = 1}));
  EXPECT_EQ(read("sched_process_fork", "comm=a pid=5 child_comm=b child_pid=6"),
            (Fields{.kind = Kind::sched_process_fork,
                    .task_pid = 5,
                    .other_pid = 6,
                    .task_comm = "a",
                    .other_comm = "b"}));
  EXPECT_EQ(
      read("sched_process_fork", "comm= child_comm=x pid=5 child_comm= child_comm=x child_pid=6"),
      (Fields{.kind = Kind::sched_process_fork,
              .task_pid = 5,
              .other_pid = 6,
              .task_comm = " child_comm=x",
              .other_comm = " child_comm=x"}));
  EXPECT_EQ(read("sched_process_fork",
                 "[FAILED TO PARSE] parent_comm=a parent_pid=5 child_comm=b child_pid=6"),
            (Fields{.kind = Kind::sched_process_fork,
                    .task_pid = 5,
                    .other_pid = 6,
                    .task_comm = "a",
                    .other_comm = "b"}));
  EXPECT_EQ(read("sched_process_exec", "filename=/usr/bin/averyveryverylongname pid=5 old_pid=6"),
            (Fields{.kind = Kind::sched_process_exec,
                    .task_pid = 5,
                    .other_pid = 6,
                    .task_comm = "averyveryverylo",
                    .name = "/usr/bin/averyveryverylongname"}));
  const Fields exited{
      .kind = Kind::sched_process_exit, .task_pid = 5, .task_comm = "a", .prio = 120};
  EXPECT_EQ(read("sched_process_exit", "comm=a pid=5 prio=120"), exited);
  EXPECT_EQ(read("sched_process_exit", "comm=a pid=5 prio=120 group_dead=true"), exited);
  const Fields ran{.kind = Kind::sched_stat_runtime, .task_pid = 5, .task_comm = "a", .value = 77};
  EXPECT_EQ(read("sched_stat_runtime", "comm=a pid=5 runtime=77 [ns]"), ran);
  EXPECT_EQ(read("sched_stat_runtime", "comm=a pid=5 runtime=77 [ns] vruntime=99 [ns]"), ran);
  EXPECT_EQ(read("sched_stat_runtime", "comm=a pid=5 runtime=9223372036854775808 [ns]"),
            flawed("runtime=9223372036854775808"));
  EXPECT_EQ(read("sched_pi_setprio", "comm=a pid=5 oldprio=120 newprio=49"),
            (Fields{.kind = Kind::sched_pi_setprio,
                    .task_pid = 5,
                    .task_comm = "a",
                    .prio = 120,
                    .other_prio = 49}));
  EXPECT_EQ(read("sched_wake_idle_without_ipi", "cpu=2"),
            (Fields{.kind = Kind::wake_idle_without_ipi, .target = CpuId(2)}));
}

TEST(Interrupts, Fields) {
  EXPECT_EQ(read("irq_handler_entry", "irq=36 name=virtio1-req.0"),
            (Fields{.kind = Kind::irq_handler_entry, .name = "virtio1-req.0", .value = 36}));
  EXPECT_EQ(read("irq_handler_exit", "irq=36 ret=handled"),
            (Fields{.kind = Kind::irq_handler_exit, .value = 36}));
  EXPECT_EQ(read("softirq_raise", "vec=3 [action=NET_RX]"),
            (Fields{.kind = Kind::softirq_raise, .value = 3}));
  EXPECT_EQ(read("softirq_entry", "vec=7 [action=SCHED]").kind, Kind::softirq_entry);
  EXPECT_EQ(read("softirq_exit", "vec=7 [action=SCHED]").kind, Kind::softirq_exit);
  EXPECT_EQ(read("softirq_exit", "action=SCHED"), flawed("vec="));
  for (const std::string name : {"reschedule", "call_function", "call_function_single",
                                 "local_timer", "irq_work", "thermal_apic"}) {
    EXPECT_EQ(read(name + "_entry", "vector=236"),
              (Fields{.kind = Kind::vector_entry, .name = name, .value = 236}));
    EXPECT_EQ(read(name + "_exit", "vector=236", "irq_vectors"),
              (Fields{.kind = Kind::vector_exit, .name = name, .value = 236}));
  }
}

TEST(Interrupts, TimersNameTheirFunction) {
  const Fields sleeper{.kind = Kind::hrtimer_expire, .name = "hrtimer_wakeup"};
  EXPECT_EQ(read("hrtimer_expire_entry", "hrtimer=00000000abc function=hrtimer_wakeup now=123"),
            sleeper);
  EXPECT_EQ(read("hrtimer_expire_entry", "hrtimer=0xffff now=123 function=hrtimer_wakeup/0x0"),
            sleeper);
  EXPECT_EQ(read("hrtimer_expire_entry", "hrtimer=0xffff now=123"), flawed("function="));
}

TEST(IdleAndIpis, Fields) {
  EXPECT_EQ(read("cpu_idle", "state=1 cpu_id=2"),
            (Fields{.kind = Kind::cpu_idle, .target = CpuId(2), .value = 1}));
  EXPECT_EQ(read("cpu_idle", "state=4294967295 cpu_id=2").value, kIdleExit);
  EXPECT_EQ(read("cpu_idle", "state=0xffffffff cpu_id=2").value, kIdleExit);
  EXPECT_EQ(read("cpu_idle", "state=4294967296 cpu_id=2"), flawed("state=4294967296"));
  EXPECT_EQ(read("cpu_idle", "state=1 cpu_id=-1"), flawed("cpu_id=-1"));
  EXPECT_EQ(read("ipi_send_cpu", "cpu=1 callsite=wakeup_preempt+0x92 callback=0x0"),
            (Fields{.kind = Kind::ipi_send, .target = CpuId(1)}));
  EXPECT_EQ(read("ipi_send_cpumask", "cpumask=0,2 callsite=x callback=0x0"),
            (Fields{.kind = Kind::ipi_send}));
}

TEST(Others, KeepOnlyTheirContext) {
  EXPECT_EQ(read("sched_stat_wait", "comm=a pid=5 delay=3 [ns]"), Fields{});
  EXPECT_EQ(read("bprint", "0xffffffff: text"), Fields{});
  EXPECT_EQ(read("", "schedule <-worker_thread"), Fields{});
  EXPECT_EQ(read("syscall_entry", "vector=1"), Fields{});
}

TEST(Groups, AreChecked) {
  EXPECT_EQ(read("sched_waking", "comm=a pid=5 prio=120 target_cpu=003", "sched").kind,
            Kind::sched_waking);
  EXPECT_EQ(read("sched_waking", "(ffffffff81000000) x=1", "probe"), Fields{});
}

}  // namespace
}  // namespace runqlab::trace
