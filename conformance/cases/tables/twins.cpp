// Operators that do much the same as another one, or copy where the other makes a view: they take
// its rows besides their own.
#include "conformance/cases/tables/generators.h"

namespace primset::conformance {
namespace {

struct Twin {
  std::string_view op, of;
};
// What a spec calls an alias needs no entry here.
constexpr Twin kTwins[] = {
    {"_unsafe_index_put", "index_put"},
    {"_index_put_impl", "index_put"},
    {"argwhere", "nonzero"},
    {"nonzero_numpy", "nonzero"},
    {"moveaxis.intlist", "movedim.intlist"},
    {"moveaxis.int", "movedim.int"},
    {"swapaxes", "transpose.int"},
    {"swapdims", "transpose.int"},
    {"broadcast_to", "expand"},
    {"split.sizes", "split_with_sizes"},
    {"unsafe_split.Tensor", "split.Tensor"},
    {"unsafe_split_with_sizes", "split_with_sizes"},
    {"unsafe_chunk", "chunk"},
    {"_reshape_copy", "view"},
    {"meshgrid", "meshgrid.indexing"},
};

// "unbind_copy.int" is of "unbind.int".
std::string without_copy(const specs::Overload& o) {
  constexpr std::string_view kCopy = "_copy";
  if (!o.op.ends_with(kCopy)) return {};
  std::string name = o.op.substr(0, o.op.size() - kCopy.size());
  return o.overload.empty() ? name : name + "." + o.overload;
}

}  // namespace

const specs::Overload* twin_of(const specs::Bundle& bundle, const specs::Overload& overload) {
  for (const Twin& t : kTwins) {
    if (t.op == overload.qualified) return bundle.find_overload(t.of);
  }
  return bundle.find_overload(without_copy(overload));
}

}  // namespace primset::conformance
