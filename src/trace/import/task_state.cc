#include "trace/import/task_state.h"

#include "trace/import/text_number.h"
#include "trace/import/text_scan.h"

namespace runqlab::trace {
namespace {

TaskState state_of_letter(char letter) {
  switch (letter) {
    case 'R':
      return TaskState::running;
    case 'S':
      return TaskState::interruptible;
    case 'D':
      return TaskState::uninterruptible;
    case 'T':
      return TaskState::stopped;
    case 't':
      return TaskState::traced;
    case 'X':
    case 'x':  // TASK_DEAD, until 4.13
      return TaskState::dead;
    case 'Z':
      return TaskState::zombie;
    case 'P':
      return TaskState::parked;
    case 'I':
      return TaskState::idle;
    default:
      return TaskState::other;
  }
}

}  // namespace

SwitchState state_of_bits(uint64_t bits) {
  // Before 4.14 a preempted task carried 0x400 (3.14) or 0x800 (4.2) alone, and TASK_IDLE was
  // D with 0x400.
  constexpr uint64_t kIdle = 0x80, kPreempted = 0x100, kOldNoLoad = 0x400;
  if ((bits & kPreempted) != 0) return {TaskState::running, true};
  if ((bits & 0xff) == 0) return {TaskState::running, bits != 0};
  if ((bits & 0x1) != 0) return {TaskState::interruptible};
  if ((bits & 0x2) != 0) {
    return {(bits & kOldNoLoad) != 0 ? TaskState::idle : TaskState::uninterruptible};
  }
  if ((bits & 0x4) != 0) return {TaskState::stopped};
  if ((bits & 0x8) != 0) return {TaskState::traced};
  if ((bits & 0x10) != 0) return {TaskState::dead};
  if ((bits & 0x20) != 0) return {TaskState::zombie};
  return {(bits & kIdle) != 0 ? TaskState::idle : TaskState::parked};
}

std::optional<SwitchState> parse_state(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (is_digit(text[0])) {
    const auto bits = parse_number(text);
    if (!bits) return std::nullopt;
    return state_of_bits(static_cast<uint64_t>(*bits));
  }
  // Before 4.14 a task preempted on its way to sleep printed "S+": it is still runnable.
  if (text.ends_with('+')) return SwitchState{TaskState::running, true};
  // Several letters only before 4.14: "D|K" and "D|W" are killable waits, "D|N" is TASK_IDLE.
  if (text == "D|N") return SwitchState{TaskState::idle};
  if (text.size() > 1 && text[1] != '|') return std::nullopt;
  return SwitchState{state_of_letter(text[0])};
}

std::optional<SwitchState> parse_plugin_state(std::string_view text) {
  constexpr std::string_view kLetters = "SDTtZXxW";
  if (text == "R") return SwitchState{};
  uint64_t bits = 0;
  for (size_t i = 0; i < text.size(); i += 2) {
    const size_t bit = kLetters.find(text[i]);
    if (bit == std::string_view::npos) return std::nullopt;
    if (i + 1 < text.size() && text[i + 1] != '|') return std::nullopt;
    bits |= uint64_t{1} << bit;
  }
  if (bits == 0) return std::nullopt;
  return state_of_bits(bits);
}

}  // namespace runqlab::trace
