// trace/import/decompress.h — gzip, xz and zstd streams, found by their magic numbers. Fixed
// memory: 64 KiB of input and the decoder's own window, whatever the file's size.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "trace/import/byte_source.h"

namespace runqlab::trace {

// `raw`'s content unpacked, or `raw`'s content itself when it is not compressed. Several streams or
// frames one after the other are one content. `name` is for messages.
Result<std::unique_ptr<ByteSource>> decompressed(std::unique_ptr<ByteSource> raw,
                                                 const std::string& name);

}  // namespace runqlab::trace
