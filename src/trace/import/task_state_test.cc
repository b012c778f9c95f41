#include "trace/import/task_state.h"

#include <gtest/gtest.h>

namespace runqlab::trace {
namespace {

using enum TaskState;

TEST(TaskStateTest, KernelLetters) {
  const std::pair<const char*, SwitchState> table[] = {
      {"R", {running}},
      {"R+", {running, true}},
      {"S", {interruptible}},
      {"D", {uninterruptible}},
      {"T", {stopped}},
      {"t", {traced}},
      {"X", {dead}},
      {"x", {dead}},
      {"Z", {zombie}},
      {"P", {parked}},
      {"I", {idle}},
      {"D|K", {uninterruptible}},
      {"D|W", {uninterruptible}},
      {"D|N", {idle}},
      {"K", {other}},
      {"W", {other}},
      {"N", {other}},
      {"S+", {running, true}},
  };
  for (const auto& [text, state] : table) EXPECT_EQ(parse_state(text), state) << text;
  for (const char* bad : {"", "Sleep", "SD"}) EXPECT_EQ(parse_state(bad), std::nullopt) << bad;
}

TEST(TaskStateTest, RawValues) {
  const std::pair<const char*, SwitchState> table[] = {
      {"0", {running}},
      {"1", {interruptible}},
      {"0x2", {uninterruptible}},
      {"0x4", {stopped}},
      {"8", {traced}},
      {"0x10", {dead}},
      {"0x20", {zombie}},
      {"0x40", {parked}},
      {"0x80", {idle}},
      {"0x100", {running, true}},
      {"1024", {running, true}},
      {"2048", {running, true}},
      {"0x82", {uninterruptible}},
      {"0x402", {idle}},
  };
  for (const auto& [text, state] : table) EXPECT_EQ(parse_state(text), state) << text;
  for (const char* bad : {"0x", "1x", "99999999999999999999"}) {
    EXPECT_EQ(parse_state(bad), std::nullopt) << bad;
  }
}

// The plugin writes the bits 1, 2, 4, … as S D T t Z X x W.
TEST(TaskStateTest, PluginLetters) {
  const std::pair<const char*, SwitchState> table[] = {
      {"R", {running}},
      {"S", {interruptible}},
      {"D", {uninterruptible}},
      {"T", {stopped}},
      {"t", {traced}},
      {"Z", {dead}},
      {"X", {zombie}},
      {"x", {parked}},
      {"W", {idle}},
      {"S|D", {interruptible}},
      {"D|W", {uninterruptible}},
  };
  for (const auto& [text, state] : table) EXPECT_EQ(parse_plugin_state(text), state) << text;
  for (const char* bad : {"", "I", "R|S", "SD", "==>"}) {
    EXPECT_EQ(parse_plugin_state(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace runqlab::trace
