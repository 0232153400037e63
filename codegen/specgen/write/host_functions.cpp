#include "codegen/specgen/write/host_functions.h"

#include <fmt/format.h>

#include <string_view>

#include "codegen/specgen/write/file_writer.h"

namespace primset::specs {
namespace {

constexpr std::string_view kHead = R"(
// PRIMSET_INTRINSIC(name, recordable, query), PRIMSET_SPARSE(name), PRIMSET_CHECK(name),
// PRIMSET_WRITTEN_CHECK(name)
// Define what is wanted; the rest expands to nothing, and all are undefined at the end.
#ifndef PRIMSET_INTRINSIC
#define PRIMSET_INTRINSIC(...)
#endif
#ifndef PRIMSET_SPARSE
#define PRIMSET_SPARSE(...)
#endif
#ifndef PRIMSET_CHECK
#define PRIMSET_CHECK(...)
#endif
#ifndef PRIMSET_WRITTEN_CHECK
#define PRIMSET_WRITTEN_CHECK(...)
#endif

)";
constexpr std::string_view kTail = R"(
#undef PRIMSET_INTRINSIC
#undef PRIMSET_SPARSE
#undef PRIMSET_CHECK
#undef PRIMSET_WRITTEN_CHECK
)";

}  // namespace

std::string emit_host_functions(const Bundle& bundle) {
  std::string out(kGeneratedNotice);
  out += kHead;
  for (const HostFunction& f : bundle.intrinsics)
    out += fmt::format("PRIMSET_INTRINSIC({}, {}, {})\n", f.name, f.recordable, f.query);
  for (const HostFunction& f : bundle.sparse_functions)
    out += fmt::format("PRIMSET_SPARSE({})\n", f.name);
  for (const HostFunction& f : bundle.checks) out += fmt::format("PRIMSET_CHECK({})\n", f.name);
  for (const HostFunction& f : bundle.written_checks)
    out += fmt::format("PRIMSET_WRITTEN_CHECK({})\n", f.name);
  return out + std::string(kTail);
}

}  // namespace primset::specs
