// observe/record/recorder.h — takes records from the hot path and hands them on in chunks, in
// order, with a hash over all of them. Memory does not grow with the run: whoever needs to keep
// records is a sink.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/hash.h"
#include "observe/record/record.h"

namespace runqlab {

class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // Records in order; the span is valid during the call only.
  virtual void consume(std::span<const Record> records) = 0;
};

class Recorder {
 public:
  Recorder() : chunk_(kChunk) {}

  // Sinks are called in the order in which they were added, and must outlive the recorder's use.
  void add_sink(RecordSink* sink) { sinks_.push_back(sink); }

  void emit(const Record& r) {
    chunk_[used_++] = r;
    if (used_ == kChunk) flush();
  }

  // Hands on what is buffered.
  void flush();

  [[nodiscard]] uint64_t count() const { return flushed_ + used_; }
  // Hash over every record so far. Call after flush().
  [[nodiscard]] uint64_t hash() const { return hash_.value(); }

  // The newest records, oldest first, at most one chunk: for messages about our own bugs.
  [[nodiscard]] std::span<const Record> recent() const { return {chunk_.data(), used_}; }

 private:
  static constexpr size_t kChunk = 2048;  // 64 KiB: stays in the L2 cache
  std::vector<Record> chunk_;
  size_t used_ = 0;
  uint64_t flushed_ = 0;
  Hash64 hash_;
  std::vector<RecordSink*> sinks_;
};

}  // namespace runqlab
