// trace/import/payload.h — an event's fields, from the text behind its name.
#pragma once

#include <string_view>

#include "base/string_pool.h"
#include "trace/event.h"
#include "trace/import/name_cache.h"

namespace runqlab::trace {

// What an event's fields lack: the key that is missing or whose value is impossible, and that
// value.
struct PayloadFlaw {
  std::string_view key;  // empty: nothing is wrong
  std::string_view value;
};

// Sets event.kind and the fields that go with it. An event of no interest, or with the name of one
// but of another `group` (empty: the format prints none), becomes EventKind::other. When something
// is wrong, `event` is half filled and nothing was added to `names`.
PayloadFlaw parse_payload(std::string_view group, std::string_view event_name,
                          std::string_view args, NameCache& names, Event& event);

}  // namespace runqlab::trace
