#include "trace/import/plugin_form.h"

#include "base/numbers.h"
#include "trace/import/text_scan.h"

namespace runqlab::trace {
namespace {

constexpr size_t kNowhere = std::string_view::npos;
// A name of 15 characters holds at most 3 arrows, a symbol and its file 2 brackets; a long line
// made of them must not take quadratic time.
constexpr int kTries = 8;

// "comm:pid [prio]", the whole of `text`.
std::optional<PluginTask> parse_task(std::string_view text) {
  if (!text.ends_with(']')) return std::nullopt;
  const size_t open = text.rfind(" [");
  if (open == kNowhere) return std::nullopt;
  const std::string_view who = text.substr(0, open);
  const size_t colon = who.rfind(':');
  if (colon == kNowhere) return std::nullopt;
  const auto prio = parse_i64(text.substr(open + 2, text.size() - open - 3));
  const auto pid = parse_u64(who.substr(colon + 1));
  if (!prio || *prio < -1 || *prio > INT16_MAX) return std::nullopt;
  if (!pid || *pid > INT32_MAX) return std::nullopt;
  return PluginTask{who.substr(0, colon), static_cast<int32_t>(*pid), static_cast<int16_t>(*prio)};
}

// As parse_task, where something (perf's symbol and its file) may follow.
std::optional<PluginTask> parse_task_prefix(std::string_view text) {
  size_t end = text.rfind(']');
  for (int tries = 0; tries < kTries && end != kNowhere && end != 0; ++tries) {
    if (const auto task = parse_task(text.substr(0, end + 1)); task) return task;
    end = text.rfind(']', end - 1);
  }
  return std::nullopt;
}

}  // namespace

std::optional<PluginSwitch> parse_plugin_switch(std::string_view args) {
  constexpr std::string_view kArrow = " ==> ";
  size_t at = args.rfind(kArrow);
  for (int tries = 0; tries < kTries && at != kNowhere && at != 0; ++tries) {
    const std::string_view left = args.substr(0, at);
    if (const auto state = parse_plugin_state(last_token(left)); state) {
      const auto prev = parse_task(without_last_token(left));
      const auto next = parse_task_prefix(args.substr(at + kArrow.size()));
      if (prev && next) return PluginSwitch{*prev, *next, *state};
    }
    at = args.rfind(kArrow, at - 1);
  }
  return std::nullopt;
}

std::optional<PluginWakeup> parse_plugin_wakeup(std::string_view args) {
  constexpr std::string_view kCpu = " CPU:";
  constexpr std::string_view kSuccess = " success=";
  const size_t at = args.rfind(kCpu);
  if (at == kNowhere) return std::nullopt;
  PluginWakeup wakeup;
  const auto cpu = parse_u64(first_token(args.substr(at + kCpu.size())));
  if (!cpu || *cpu > kMaxCpu) return std::nullopt;
  wakeup.cpu = CpuId::of(*cpu);
  std::string_view who = args.substr(0, at);
  if (const std::string_view last = last_token(who); last.starts_with(kSuccess.substr(1))) {
    wakeup.success = last != "success=0";
    who = without_last_token(who);
  }
  const auto task = parse_task(who);
  if (!task) return std::nullopt;
  wakeup.task = *task;
  return wakeup;
}

}  // namespace runqlab::trace
