#include "backends/cpu/sort/select.h"

#include "backends/cpu/primitives.h"

namespace primset_cpu {
namespace {

template <Selection kWhat>
primset_status* run_selection(primset_stream stream, const void*,
                              const primset_primitive_call* call) {
  return primset_backend::guarded("select", [&]() -> primset_status* {
    with_key_type(call->operands[0].dtype, [&]<typename U, KeyKind kKind>(Keys<U, kKind> keys) {
      SelectCall<U, kKind>(*call, kWhat, keys.infinity).run(*stream->device->pool);
    });
    return nullptr;
  });
}

struct NamedSelection {
  std::string_view name;
  decltype(primset_primitive::run) run;
};

constexpr NamedSelection kSelections[] = {
    {"top_k", run_selection<Selection::top_k>},
    {"kth_value", run_selection<Selection::kth_value>},
    {"median", run_selection<Selection::median>},
    {"mode", run_selection<Selection::mode>},
};

}  // namespace

bool find_selection(const char* name, const primset_primitive_call& call, primset_primitive* out) {
  const auto* found = std::ranges::find(kSelections, name, &NamedSelection::name);
  if (found == std::end(kSelections) || call.operand_count != 1 || call.result_count != 2 ||
      !is_key_type(call.operands[0].dtype) || !fits_row_order(call))
    return false;
  return answer(out, found->run);
}

}  // namespace primset_cpu
