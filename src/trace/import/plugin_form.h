// trace/import/plugin_form.h — sched_switch and sched_wakeup as libtraceevent's plugin prints them,
// in trace-cmd report and in perf script where the plugin is installed:
//
//   comm:pid [prio] STATE ==> comm:pid [prio]
//   comm:pid [prio][ success=1] CPU:003
//
// Read from the right, because a name may hold all of that.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/types.h"
#include "trace/import/task_state.h"

namespace runqlab::trace {

struct PluginTask {
  std::string_view comm;
  int32_t pid = 0;
  int16_t prio = 0;
};

struct PluginSwitch {
  PluginTask prev, next;
  SwitchState state;
};

struct PluginWakeup {
  PluginTask task;
  CpuId cpu{};
  bool success = true;
};

std::optional<PluginSwitch> parse_plugin_switch(std::string_view args);
std::optional<PluginWakeup> parse_plugin_wakeup(std::string_view args);

}  // namespace runqlab::trace
