#include "observe/record/recorder.h"

#include <array>
#include <bit>

namespace runqlab {

void Recorder::flush() {
  const std::span<const Record> records(chunk_.data(), used_);
  for (const Record& r : records) {
    const auto words = std::bit_cast<std::array<uint64_t, 4>>(r);
    for (const uint64_t w : words) hash_.add(w);
  }
  for (RecordSink* sink : sinks_) sink->consume(records);
  flushed_ += used_;
  used_ = 0;
}

}  // namespace runqlab
