#include "sched/kernel_config.h"

#include <algorithm>
#include <bit>

#include "base/numbers.h"
#include "base/suggest.h"

namespace runqlab::sched {
namespace {

using namespace literals;

constexpr Version kOldest{5, 18};
constexpr Version kNewest{7, 1};
constexpr Version kLazyPreemption{6, 13};
constexpr Version kOnlyLazyAndFull{7, 0};

// What a stable or distribution kernel has beyond its release (BACKPORTS.md): names as in an arm.
struct Backports {
  Version version;
  std::string_view what;
  std::string_view changes;
};
constexpr Backports kBackports[] = {
    {{6, 1, 192}, "Debian 12", "RECENT_USED_MASK,NI_RANDOM,SLOWPATH_ALLOWED_ONLY"},
    {{6, 12, 95},
     "Debian 12 backports",
     "SYNC_IGNORES_DELAYED,IDLE_CANCELS_PROTECTION,YIELD_FORFEITS,PICK_BUDDY,NI_RANDOM"},
    {{6, 18, 44},
     "stable",
     "NI_RANDOM,NO_NEWIDLE_BUMP,LAG_LIMIT_QUEUE,VPROT_AT_PICK_ONLY,"
     "WAKEUP_NO_FORK_PREEMPT,VPROT_SHRINK_ALWAYS,BUDDY_IN_PICK,WAKEUP_PICK_DEQUEUES,"
     "YIELD_FORFEITS,SLOWPATH_ALLOWED_ONLY"},
};

// Every release that has rules of its own, and the stable ones above.
constexpr KernelInfo kKernels[] = {
    {"5.18", ""},
    {"6.0", ""},
    {"6.1", ""},
    {"6.1.192", kBackports[0].what},
    {"6.6", ""},
    {"6.7", ""},
    {"6.8", ""},
    {"6.11", ""},
    {"6.12", ""},
    {"6.12.95", kBackports[1].what},
    {"6.13", ""},
    {"6.14", ""},
    {"6.15", ""},
    {"6.16", ""},
    {"6.17", ""},
    {"6.18", ""},
    {"6.18.44", kBackports[2].what},
    {"6.19", ""},
    {"7.0", ""},
    {"7.1", ""},
};

std::optional<Version> parse_version(std::string_view text) {
  Version v;
  int* const parts[] = {&v.major, &v.minor, &v.patch};
  size_t n = 0;
  while (!text.empty() && n < 3) {
    const size_t dot = text.find('.');
    const auto number = parse_u64(text.substr(0, dot));
    if (!number || *number > 9999) return std::nullopt;
    *parts[n++] = static_cast<int>(*number);
    if (dot == std::string_view::npos) {
      text = {};
      break;
    }
    text.remove_prefix(dot + 1);
    if (text.empty()) return std::nullopt;
  }
  if (n < 2 || !text.empty()) return std::nullopt;
  return v;
}

// The switch that a word of an arm sets: a feature with or without NO_, a tunable.
std::string_view switch_of(std::string_view word) {
  word = word.substr(0, word.find('='));
  return word.starts_with("NO_") ? word.substr(3) : word;
}

Error not_a_kernel(std::string_view word) {
  std::vector<std::string_view> names;
  for (const KernelInfo& k : kKernels) names.push_back(k.name);
  // "v6.18", "linux-6.18": as tags and archives are called.
  const size_t digits = std::min(word.find_first_of("0123456789"), word.size());
  const std::string_view bare = word.substr(digits);
  return {.message = "not a kernel release",
          .token = std::string(word),
          .hint = "say x.y or x.y.z: " + (digits != 0 && parse_version(bare)
                                              ? std::string(bare)
                                              : did_you_mean(bare, names, "runqlab list kernels"))};
}

Error unknown_word(std::string_view word) {
  std::vector<std::string_view> names;
  for (const FeatureInfo& f : feature_table()) names.push_back(f.name);
  for (const TunableInfo& t : tunable_table()) names.push_back(t.name);
  names.push_back("preempt");
  return {.message = "unknown feature or tunable",
          .token = std::string(word),
          .hint = did_you_mean(switch_of(word), names, "runqlab list features")};
}

Status set_value(KernelConfig& c, std::string_view name, std::string_view value) {
  if (name == "preempt") {
    for (const Preempt p : {Preempt::none, Preempt::voluntary, Preempt::full, Preempt::lazy}) {
      if (to_string(p) != value) continue;
      const Version release{c.version.major, c.version.minor};
      if (p == Preempt::lazy && release < kLazyPreemption) {
        return Error{.message = "preempt=lazy exists from 6.13 on", .token = c.kernel};
      }
      if ((p == Preempt::none || p == Preempt::voluntary) && release >= kOnlyLazyAndFull) {
        return Error{.message = "7.0 has no preempt=" + std::string(value) + " any more",
                     .token = c.kernel,
                     .hint = "lazy or full are left (7dadeaa6e851, PREEMPT_NONE_GONE)"};
      }
      c.tunables.preempt = p;
      return Ok{};
    }
    return Error{.message = "unknown preemption model",
                 .token = std::string(value),
                 .hint = "none, voluntary, full or lazy (PREEMPT_RT is not modelled)"};
  }
  const TunableInfo* t = find_tunable(name);
  if (t == nullptr) return unknown_word(name);
  const auto v = t->time != nullptr ? [&]() -> std::optional<int64_t> {
    const auto d = parse_duration(value);
    return d ? std::optional(d->ns()) : std::nullopt;
  }()
      : parse_i64(value);
  if (!v || *v < t->low || *v > t->high) {
    return Error{.message = std::string(name) + " takes a number from " + std::to_string(t->low) +
                            " to " + std::to_string(t->high),
                 .token = std::string(value)};
  }
  if (t->time != nullptr) {
    c.tunables.*t->time = Duration::nanos(*v);
  } else {
    c.tunables.*t->number = *v;
  }
  return Ok{};
}

Status apply_word(KernelConfig& c, std::string_view word) {
  if (const size_t eq = word.find('='); eq != std::string_view::npos) {
    return set_value(c, word.substr(0, eq), word.substr(eq + 1));
  }
  const bool on = !word.starts_with("NO_");
  const FeatureInfo* f = find_feature(on ? word : word.substr(3));
  if (f == nullptr) return unknown_word(word);
  c.features.*f->field = on;
  return Ok{};
}

// A tunable of the other pick policy would do nothing.
Status check_policy(const KernelConfig& c) {
  const Tunables& t = c.tunables;
  const auto wrong = [&](const char* name, const char* hint) {
    return Error{.message = c.kernel + " has no such tunable", .token = name, .hint = hint};
  };
  if (!c.features.eevdf) {
    if (t.base_slice_ns == Duration{}) return Ok{};
    return wrong("base_slice_ns", "CFS has latency_ns, min_granularity_ns, wakeup_granularity_ns");
  }
  for (const auto& [value, name] : {std::pair(t.latency_ns, "latency_ns"),
                                    {t.min_granularity_ns, "min_granularity_ns"},
                                    {t.wakeup_granularity_ns, "wakeup_granularity_ns"}}) {
    if (value != Duration{}) return wrong(name, "EEVDF (from 6.6 on) has base_slice_ns");
  }
  return Ok{};
}

// Calls `f` for every word of a comma list until it returns an error.
template <class F>
Status for_each_word(std::string_view list, F&& f) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (Status s = f(list.substr(0, comma)); !s) return s;
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return Ok{};
}

}  // namespace

std::span<const KernelInfo> kernel_table() { return kKernels; }

Result<KernelConfig> kernel_of(std::string_view name) {
  const auto asked = parse_version(name);
  if (!asked) return not_a_kernel(name);
  KernelConfig c;
  c.kernel = std::string(name);
  const Version release{asked->major, asked->minor};
  c.version = *asked;
  if (release < kOldest) {
    c.version = kOldest;
    c.unknown.push_back(c.kernel + " is older than the oldest profile; the rules of 5.18 are used");
  } else if (release > kNewest) {
    c.version = kNewest;
    c.unknown.push_back(c.kernel + " is newer than the newest profile; the rules of 7.1 are used");
  }
  c.features = features_of(c.version);
  c.base_slice_unscaled = c.version < Version{6, 15} ? 750_us : 700_us;
  c.tunables.preempt = c.version < kLazyPreemption    ? Preempt::voluntary
                       : c.version < kOnlyLazyAndFull ? Preempt::none
                                                      : Preempt::lazy;
  if (asked->patch > 0 && c.unknown.empty()) {
    const auto* known = std::find_if(std::begin(kBackports), std::end(kBackports),
                                     [&](const Backports& b) { return b.version == *asked; });
    if (known != std::end(kBackports)) {
      RQL_CHECK(for_each_word(known->changes, [&](auto w) { return apply_word(c, w); }).ok());
      if (known->version == Version{6, 12, 95}) c.base_slice_unscaled = 700_us;
    } else {
      c.unknown.push_back(c.kernel +
                          ": back-ports of this stable release are not known; the rules "
                          "of " +
                          release.to_string() + " are used");
    }
  }
  return c;
}

Result<KernelConfig> parse_arm(std::string_view text, const KernelConfig& base) {
  KernelConfig c = base;
  const std::string_view whole = text;
  const size_t comma = text.find(',');
  const std::string_view first = text.substr(0, comma);
  if (const size_t n = first.find_first_of("0123456789");
      n != std::string_view::npos && n != 0 && parse_version(first.substr(n))) {
    return not_a_kernel(first);
  }
  if (!first.empty() && first[0] >= '0' && first[0] <= '9') {
    auto kernel = kernel_of(first);
    if (!kernel) return kernel.error();
    c = std::move(*kernel);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  std::vector<std::string_view> said;
  Status s = for_each_word(text, [&](std::string_view word) -> Status {
    if (word.empty()) {
      return Error{.message = "an arm has an empty word", .token = std::string(whole)};
    }
    if (word[0] >= '0' && word[0] <= '9') {
      return Error{.message = "a kernel release comes first in an arm, and only once",
                   .token = std::string(word)};
    }
    const std::string_view name = switch_of(word);
    if (std::find(said.begin(), said.end(), name) != said.end()) {
      return Error{.message = "an arm says " + std::string(name) + " twice",
                   .token = std::string(whole),
                   .hint = "its words hold all at once: keep one"};
    }
    said.push_back(name);
    if (Status applied = apply_word(c, word); !applied) return applied;
    // It replaces what the base arm said.
    std::erase_if(c.switches, [&](const std::string& old) { return switch_of(old) == name; });
    c.switches.emplace_back(word);
    return Ok{};
  });
  if (!s) return s.error();
  if (Status fits = check_policy(c); !fits) return fits.error();
  return c;
}

Duration base_slice(const KernelConfig& config, size_t online_cpus) {
  if (config.tunables.base_slice_ns != Duration{}) return config.tunables.base_slice_ns;
  const auto cpus = static_cast<uint32_t>(std::min<size_t>(online_cpus, 8));
  return config.base_slice_unscaled * std::bit_width(cpus);  // 1 + log2(cpus)
}

FairParams fair_params(const KernelConfig& config, size_t online_cpus, Duration tick) {
  const Tunables& t = config.tunables;
  // Defaults are scaled by the number of CPUs, what the user sets is not; nr_latency is recomputed
  // when a knob is written.
  const auto scale = std::bit_width(static_cast<uint32_t>(std::min<size_t>(online_cpus, 8)));
  const auto scaled = [&](Duration set, Duration by_default) {
    return set != Duration{} ? set.ns() : by_default.ns() * scale;
  };
  FairParams k{.feat = config.features,
               .tick_ns = tick.ns(),
               .base_slice_ns = base_slice(config, online_cpus).ns(),
               .base_slice_unscaled_ns = config.base_slice_unscaled.ns(),
               .latency_ns = scaled(t.latency_ns, 6_ms),
               .min_granularity_ns = scaled(t.min_granularity_ns, 750_us),
               .wakeup_granularity_ns = scaled(t.wakeup_granularity_ns, 1_ms),
               .idle_min_granularity_ns = 750'000,
               .nr_latency = 8};
  if (t.latency_ns != Duration{} || t.min_granularity_ns != Duration{}) {
    k.nr_latency = (k.latency_ns + k.min_granularity_ns - 1) / k.min_granularity_ns;
  }
  return k;
}

std::string KernelConfig::arm() const {
  std::string s = kernel;
  for (const std::string& change : switches) s += ',' + change;
  return s;
}

std::string KernelConfig::identity() const {
  std::string s = "rules=" + Version{version.major, version.minor}.to_string();
  for (const FeatureInfo& f : feature_table()) {
    s += (features.*f.field ? "," : ",NO_") + std::string(f.name);
  }
  s += ",base_slice_unscaled=" + std::to_string(base_slice_unscaled.ns());
  for (const TunableInfo& t : tunable_table()) {
    s += ',' + std::string(t.name) + '=' +
         std::to_string(t.time != nullptr ? (tunables.*t.time).ns() : tunables.*t.number);
  }
  s += ",preempt=" + std::string(to_string(tunables.preempt));
  return s;
}

}  // namespace runqlab::sched
