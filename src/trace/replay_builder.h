// trace/replay_builder.h — reads a recording event by event and keeps, for each task, its life as
// bursts, blocks and wakeups (trace/replay.h says by which rules).
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/replay.h"
#include "trace/task_track.h"

namespace runqlab::trace {

class ReplayBuilder {
 public:
  ReplayBuilder(const machine::MachineSpec& machine, const ReplayOptions& options, std::string file,
                StringPool& names, RecordSink& recorded, Diagnostics& diagnostics);

  void add(const Event& e);
  // After the last event; `import` says what was read.
  Result<Replay> finish(const ImportSummary& import);

 private:
  using Where = TaskTrack::Where;

  // What an interrupt that is being served is about.
  enum class IrqSource : uint8_t { none, timer, device, other };
  struct CpuTrack {
    bool seen = false;
    uint32_t current = kUnknown;  // index of a track, kIdle or kUnknown
    int64_t idle_since = 0;
    int64_t idle_total = 0;  // until idle_since, or until now when it is not idle
    int64_t irq_began = 0;   // of the measured interrupt or softirq that is open
    int open_irqs = 0;
    bool in_vector = false;       // between an x86 vector's entry and its exit
    bool own_softirq = false;     // the open softirq is the end of the current task's send
    bool send_woke = false;       // and somebody was woken in it
    bool raised_by_task = false;  // NET_RX was raised in task context and has not run yet
    IrqSource source = IrqSource::none;
    int softirq_vector = -1;
  };
  static constexpr uint32_t kUnknown = ~uint32_t{0};
  static constexpr uint32_t kIdle = kUnknown - 1;

  // replay_limits.cc
  void check_size(const Event& e);

  // replay_builder.cc
  CpuTrack& cpu_of(const Event& e);
  uint32_t track_of(int32_t pid, StrId comm);
  [[nodiscard]] bool wakeup_counts() const;
  void repair_current(const Event& e);
  void sched_switch(const Event& e);
  void switch_out(CpuTrack& c, const Event& e, uint32_t prev, TaskState state, bool preempted,
                  uint32_t next);
  void switch_in(CpuTrack& c, CpuId cpu, int64_t now, uint32_t next, bool prev_was_idle);
  void first_seen(TaskTrack& t, Where where, TaskStart start, int64_t now);
  void fork(const Event& e);
  void set_prio(TaskTrack& t, int prio, TaskTrack& by);
  [[nodiscard]] bool was_yield(const TaskTrack& t, const Event& e) const;
  int64_t idle_time(const CpuTrack& c, int64_t now) const;
  void begin_wait(TaskTrack& t, int64_t now);
  void end_wait(TaskTrack& t, int64_t now, bool behind_task);
  void migrated(const Event& e, const CpuTrack& c);
  void executed(const CpuTrack& c);
  [[nodiscard]] bool is_stopper_of(CpuId cpu, const TaskTrack& t) const;

  // replay_wake.cc
  // An interrupt or softirq runs: by the flags of `e`, or, without flags, by the events so far.
  static bool in_interrupt(const Event& e, const CpuTrack& c) {
    return e.context.known ? e.context.hardirq || e.context.softirq
                           : c.open_irqs != 0 || c.in_vector;
  }
  void waking(const Event& e);
  void interrupt_event(const Event& e, CpuTrack& c);
  void task_wakes(const Event& e, uint32_t waker, uint32_t wakee, bool softirq);
  void interrupt_wakes(const Event& e, const CpuTrack& c, uint32_t wakee);
  void end_sleep_by_timer(TaskTrack& t, size_t block_op, int64_t from_ns, int64_t until_ns);
  void end_block(TaskTrack& t, int64_t now);
  void resolve_path(TaskTrack& wakee, CpuId ran_on, bool was_idle, bool preempted);
  void charge_recorded(const Event& e, CpuTrack& c);

  // replay_rendezvous.cc
  struct Channel {                          // from one task to another it wakes
    uint64_t answered = 0;                  // the waker blocked next, until that task woke it
    uint64_t other = 0;                     // it did something else first
    std::vector<int64_t> work_until_block;  // when answered
  };
  struct Rendezvous {  // a waker that its wakee preempted at once
    uint32_t waker, wakee;
    size_t wake_op;
    size_t wakee_block_op = 0;
    size_t answer_op = 0;  // a wake, left out so far, where the wakee sent and nobody was asleep
  };
  void note_wake(TaskTrack& w, uint32_t wakee, size_t op);
  void note_block(TaskTrack& t);
  void note_woken(TaskTrack& t, uint32_t by);
  void note_preempted(uint32_t prev, uint32_t next);
  void note_silent_send(TaskTrack& t, int64_t now);
  void insert_rendezvous();

  // replay_unflagged.cc
  struct Unflagged {  // a wakeup over a task, by it or by an interrupt
    int64_t time_ns = 0, blocked_at_ns = 0;
    uint32_t waker = 0, wakee = 0;
    size_t op = 0;                     // the wake among the waker's ops
    std::optional<size_t> block_op{};  // the block that it ended, if recorded
    CpuId cpu{};
  };
  [[nodiscard]] bool sees_interrupts() const;
  void settle_unflagged();
  void make_interrupt(const Unflagged& u);

  // replay_timers.cc
  void put_timers_on_clock(TaskTrack& t);

  // replay_finish.cc
  struct Affinity {
    std::string cpus;  // empty: all
    size_t from_op = 0;
  };
  Affinity infer_affinity(const TaskTrack& t) const;
  uint16_t average_util(const TaskTrack& t) const;
  machine::Tracing tracing() const;

  void record(const Event& e, RecordKind kind, uint32_t task, uint8_t flags = 0, uint32_t a = 0,
              uint32_t b = 0, uint64_t c = 0);
  [[nodiscard]] SimTime sim_time(int64_t ns) const { return SimTime::from_ns(ns - start_ns_); }
  [[nodiscard]] TaskId id_of(uint32_t track) const {
    return track < tracks_.size() ? tracks_[track].id : TaskId::none();
  }
  [[nodiscard]] Error at(const Event& e, std::string message) const {
    return {.message = std::move(message), .file = file_, .line = e.line};
  }

  const machine::MachineSpec& machine_;
  const ReplayOptions& options_;
  std::string file_;
  StringPool& names_;
  RecordSink& recorded_;
  Diagnostics& diagnostics_;
  std::vector<Record> chunk_;
  std::deque<TaskTrack> tracks_;
  std::unordered_map<int32_t, uint32_t> by_pid_;  // pid -> its newest track
  std::vector<CpuTrack> cpus_;
  std::map<std::pair<uint32_t, uint32_t>, Channel> channels_;
  std::vector<Rendezvous> rendezvous_;
  std::vector<Unflagged> unflagged_;
  std::vector<Arrival> arrivals_;
  std::array<uint64_t, static_cast<size_t>(EventKind::other) + 1> seen_{};
  ReplayCounts counts_;
  int64_t start_ns_ = 0;
  int64_t last_ns_ = 0;
  int64_t last_runnable_ns_ = -1;  // when a task was woken or forked last
  bool started_ = false;
  std::optional<Error> refusal_;  // too big to go on
};

}  // namespace runqlab::trace
