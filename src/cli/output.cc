#include "cli/output.h"

#include <cerrno>
#include <cstring>

#include "base/printable.h"

namespace runqlab::cli {

void write_text(std::FILE* to, std::string_view text) {
  const std::string safe = printable(text, "\n");
  std::fwrite(safe.data(), 1, safe.size(), to);  // output_complete() looks at the outcome
}

void print_json(const report::Json& j) {
  const std::string text = j.dump(2, ' ', false, report::Json::error_handler_t::replace) + '\n';
  std::fwrite(text.data(), 1, text.size(), stdout);
}

bool output_complete() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  print_error("runqlab: cannot write the output{}{}\n", errno != 0 ? ": " : "",
              errno != 0 ? std::strerror(errno) : "");
  return false;
}

}  // namespace runqlab::cli
