// trace/import/task_state.h — the state in which a task was switched out, in the four ways it is
// written.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/event.h"

namespace runqlab::trace {

struct SwitchState {
  TaskState state = TaskState::running;
  bool preempted = false;

  bool operator==(const SwitchState&) const = default;
};

// The kernel's print format: "S", "R+", "D|K"; or the raw value "1", "0x402".
std::optional<SwitchState> parse_state(std::string_view text);

// libtraceevent's sched_switch plugin. It names the bits by the letters of an old kernel
// ("SDTtZXxW"), so that what the kernel calls X, Z, P and I appear as Z, X, x and W.
std::optional<SwitchState> parse_plugin_state(std::string_view text);

// The field's value. Bits as since Linux 4.14: S D T t X Z P I = 1 2 4 8 0x10 0x20 0x40 0x80,
// preempted = 0x100; older kernels agree in the lowest four.
SwitchState state_of_bits(uint64_t bits);

}  // namespace runqlab::trace
