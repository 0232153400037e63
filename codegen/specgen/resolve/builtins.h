// The functions that formulas have beside primitives and operators.
#ifndef PRIMSET_CODEGEN_SPECGEN_RESOLVE_BUILTINS_H_
#define PRIMSET_CODEGEN_SPECGEN_RESOLVE_BUILTINS_H_

#include <array>
#include <string_view>

namespace primset::specs {

struct Builtin {
  std::string_view name;
  size_t arguments;
  bool known;  // its value is known when a plan is made
  std::string_view meaning;
};

inline constexpr std::array<Builtin, 11> kBuiltins = {{
    {"where", 3, false, "where(c, a, b): a where c holds, else b, element by element"},
    {"size", 2, false, "size(x, d): the size of dim d"},
    {"numel", 1, false, "numel(x): the number of elements"},
    {"rank", 1, true, "rank(x): the number of dims"},
    {"dtype", 1, true, "dtype(x): the dtype"},
    {"integral", 1, true, "integral(x): has x an integer dtype?"},
    {"floating", 1, true, "floating(x): has x a floating dtype?"},
    {"complex", 1, true, "complex(x): has x a complex dtype? Of two arguments it is the primitive"},
    {"boolean", 1, true, "boolean(x): has x the dtype bool?"},
    {"half", 1, true, "half(x): has x a 16-bit floating dtype?"},
    {"unsigned", 1, true, "unsigned(x): has x an unsigned integer dtype?"},
}};

inline const Builtin* find_builtin(std::string_view name, size_t arguments) {
  for (const Builtin& b : kBuiltins) {
    // complex(re, im) is a primitive.
    if (b.name == name && (name != "complex" || arguments == 1)) return &b;
  }
  return nullptr;
}

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_RESOLVE_BUILTINS_H_
