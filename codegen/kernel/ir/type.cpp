#include "codegen/kernel/ir/type.h"

#include "codegen/kernel/ir/name_table.h"

namespace primset::kir {
namespace {

constexpr std::string_view kScalars[] = {"i1",  "i8",  "i16", "i32",  "i64",
                                         "f16", "f32", "f64", "bf16", "none"};
constexpr std::string_view kSpaces[] = {"global", "group", "private"};
constexpr std::string_view kUses[] = {"a", "b", "accumulator"};

}  // namespace

std::string_view name(Scalar s) {
  return kScalars[static_cast<size_t>(s)];
}
std::string_view name(AddressSpace s) {
  return kSpaces[static_cast<size_t>(s)];
}
std::string_view name(MatrixUse u) {
  return kUses[static_cast<size_t>(u)];
}

bool parse_scalar(std::string_view text, Scalar& scalar) {
  return find_name(kScalars, text, scalar) && scalar != Scalar::none;
}
bool parse_address_space(std::string_view text, AddressSpace& space) {
  return find_name(kSpaces, text, space);
}
bool parse_matrix_use(std::string_view text, MatrixUse& use) {
  return find_name(kUses, text, use);
}

std::string to_string(Type t) {
  std::string element(name(t.scalar));
  if (t.is_pointer()) element = "ptr<" + std::string(name(t.space)) + ">";
  if (t.is_matrix()) element = "matrix<" + element + ", " + std::string(name(t.use)) + ">";
  if (t.lanes == 1) return element;
  return "vec<" + element + ", " + std::to_string(t.lanes) + ">";
}

}  // namespace primset::kir
