// Reading a recording, and turning it into programs.
#include "trace/replay.h"

#include <benchmark/benchmark.h>

#include "trace/import/byte_source.h"
#include "trace/import/decompress.h"

namespace runqlab::trace {
namespace {

const std::string kPath =
    std::string(RUNQLAB_TEST_DATA) + "/recordings/host_6.18/pgbench_c4_tpcb.trace.txt.xz";

// Of a text in memory, unpacked.
void ImportText(benchmark::State& state) {
  auto source = decompressed(open_file(kPath).value(), kPath).value();
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (const size_t n = source->read(buffer).value()) text.append(buffer.data(), n);
  double events = 0;
  for (auto _ : state) {
    StringPool names;
    Diagnostics diagnostics;
    const auto summary =
        import_text(text, kPath, {}, names, diagnostics, [](const Event&) {}).value();
    events += static_cast<double>(summary.events);
  }
  state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
}
BENCHMARK(ImportText)->Unit(benchmark::kMillisecond);

// The whole way from the compressed file to the workload.
void LoadReplay(benchmark::State& state) {
  struct : RecordSink {
    void consume(std::span<const Record>) override {}
  } none;
  const auto machine = machine::load_machine("vm-2").value();
  double events = 0;
  for (auto _ : state) {
    Diagnostics diagnostics;
    events += static_cast<double>(
        load_replay(kPath, machine, {}, none, diagnostics).value().import.events);
  }
  state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
}
BENCHMARK(LoadReplay)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace runqlab::trace
