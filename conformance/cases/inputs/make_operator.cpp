#include "conformance/cases/inputs/make_operator.h"

#include <algorithm>

namespace primset::conformance {
namespace {

using specs::ArgKind;
using specs::Argument;
using specs::DefaultKind;
using specs::DefaultValue;

ArgValue integer_default(const Argument& a, int64_t v) {
  switch (a.kind) {
    case ArgKind::scalar:
      return Scalar(v);
    case ArgKind::floating:
      return static_cast<double>(v);
    case ArgKind::boolean:
      return v != 0;
    case ArgKind::int_list:
    case ArgKind::sym_int_list:
      return std::vector<int64_t>(static_cast<size_t>(std::max(1, a.fixed_size)), v);
    case ArgKind::float_list:
      return std::vector<double>(static_cast<size_t>(std::max(1, a.fixed_size)),
                                 static_cast<double>(v));
    default:
      return v;
  }
}

ArgValue enumeration_default(const Argument& a, int64_t code) {
  switch (a.kind) {
    case ArgKind::scalar_type:
      return static_cast<DType>(code);
    case ArgKind::layout:
      return static_cast<Layout>(code);
    case ArgKind::memory_format:
      return static_cast<MemoryFormat>(code);
    default:
      return code;
  }
}

}  // namespace

ArgValue default_argument(const Argument& a) {
  const DefaultValue& d = a.default_value;
  switch (d.kind) {
    case DefaultKind::absent:
      if (a.is_out) return OutTensor{};
      if (a.optional) return std::monostate{};
      // A mask of results that only the base of an out= overload takes: all of them.
      if (a.kind == specs::ArgKind::bool_list)
        return std::vector<bool>(static_cast<size_t>(std::max(a.fixed_size, 1)), true);
      throw Error(ErrorCode::value, "the case leaves out '" + a.name + "', which has no default");
    case DefaultKind::none:
      return std::monostate{};
    case DefaultKind::integer:
      return integer_default(a, d.integer);
    case DefaultKind::floating:
      if (a.kind == ArgKind::scalar) return Scalar(d.floating);
      return d.floating;
    case DefaultKind::boolean:
      if (a.kind == ArgKind::scalar) return Scalar(d.integer != 0);
      if (a.kind == ArgKind::bool_list) {
        return std::vector<bool>(static_cast<size_t>(std::max(1, a.fixed_size)), d.integer != 0);
      }
      return d.integer != 0;
    case DefaultKind::string:
      return d.text;
    case DefaultKind::int_list:
      return d.list;
    case DefaultKind::enumeration:
      return enumeration_default(a, d.integer);
  }
  return std::monostate{};
}

void make_operator_case(const specs::Overload& overload, const CaseText& text, ValueReader& reader,
                        TestCase& test) {
  for (const TextItem& item : text.items) {
    if (overload.find_arg(item.name) < 0) {
      throw Error(ErrorCode::value,
                  overload.qualified + " has no argument '" + item.name + "': " + test.text);
    }
  }
  test.args.resize(overload.args.size());
  // In the order of the text, since &name refers to what stands before it.
  for (const TextItem& item : text.items) {
    auto i = static_cast<size_t>(overload.find_arg(item.name));
    const Argument& a = overload.args[i];
    test.args[i] = reader.read(a.kind, a.name, item.value);
  }
  for (size_t i = 0; i < overload.args.size(); ++i) {
    if (!text.find(overload.args[i].name)) test.args[i] = default_argument(overload.args[i]);
  }
}

}  // namespace primset::conformance
