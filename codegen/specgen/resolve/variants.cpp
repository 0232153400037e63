#include "codegen/specgen/resolve/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace primset::specs {
namespace {

Overload named(const Overload& base, std::string op, const std::string& overload) {
  Overload o;
  o.qualified = qualified_name(op, overload);
  o.op = std::move(op);
  o.overload = overload;
  o.family = base.family;
  o.args = base.args;
  o.derived = true;
  return o;
}

void drop_tensor_options(std::vector<Argument>& args) {
  constexpr std::array<std::string_view, 4> kOptions = {"dtype", "layout", "device", "pin_memory"};
  auto is_option = [&](const Argument& a) {
    return a.keyword_only && std::find(kOptions.begin(), kOptions.end(), a.name) != kOptions.end();
  };
  if (std::count_if(args.begin(), args.end(), is_option) == 4) std::erase_if(args, is_option);
}

std::vector<uint32_t> remap(const std::vector<uint32_t>& indices, const Overload& from,
                            const Overload& to) {
  std::vector<uint32_t> mapped;
  for (uint32_t i : indices) {
    const int index = to.find_arg(from.args[i].name);
    if (index >= 0) mapped.push_back(static_cast<uint32_t>(index));
  }
  return mapped;
}

}  // namespace

std::string inplace_name(const std::string& op) {
  if (op.starts_with("__")) return "__i" + op.substr(2);
  return op + "_";
}

std::string qualified_name(const std::string& op, const std::string& overload) {
  return overload.empty() ? op : fmt::format("{}.{}", op, overload);
}

bool has_inplace_form(const Overload& base) {
  if (base.args.empty() || base.args[0].name != "self") return false;
  return base.args[0].kind == ArgKind::tensor || base.args[0].kind == ArgKind::tensor_list;
}

Overload derive_inplace(const Overload& base, const std::string& overload) {
  Overload o = named(base, inplace_name(base.op), overload);
  o.kind = OverloadKind::inplace;
  o.args[0].alias = {.letter = 'a', .writes = true};
  if (base.args[0].kind == ArgKind::tensor) {
    o.returns = {{.name = "", .kind = ArgKind::tensor, .alias = o.args[0].alias}};
  }
  o.schema = print_schema(o.qualified, o.args, o.returns);
  inherit(base, o);
  return o;
}

Overload derive_out(const Overload& base, const std::string& overload) {
  Overload o = named(base, base.op, overload);
  o.kind = OverloadKind::out;
  drop_tensor_options(o.args);
  char letter = 'a';
  for (size_t i = 0; i < base.returns.size(); ++i) {
    const Return& r = base.returns[i];
    Argument out;
    out.name = !r.name.empty()            ? r.name
               : base.returns.size() == 1 ? "out"
                                          : fmt::format("out{}", i);
    // A single result is called out whatever its name.
    if (base.returns.size() == 1) out.name = "out";
    out.kind = r.kind;
    out.keyword_only = true;
    out.is_out = true;
    out.role = Role::runtime;
    out.alias = {.letter = letter++, .writes = true};
    o.args.push_back(out);
    if (r.kind == ArgKind::tensor) o.returns.push_back({r.name, r.kind, out.alias});
  }
  o.schema = print_schema(o.qualified, o.args, o.returns);
  inherit(base, o);
  return o;
}

void inherit(const Overload& base, Overload& derived) {
  for (Argument& a : derived.args) {
    const int index = base.find_arg(a.name);
    if (index < 0) continue;
    a.role = base.args[static_cast<size_t>(index)].role;
    a.rounding = base.args[static_cast<size_t>(index)].rounding;
  }
  derived.status = base.status;
  derived.status_reason = base.status_reason;
  derived.promote.kind = base.promote.kind;
  derived.promote.args = remap(base.promote.args, base, derived);
  if (base.promote.into != kNoIndex)
    derived.promote.into = remap({base.promote.into}, base, derived)[0];
  derived.broadcast = remap(base.broadcast, base, derived);
  derived.one_dtype = remap(base.one_dtype, base, derived);
  derived.dtypes = base.dtypes;
  derived.strides = derived.kind == OverloadKind::out ? base.outs.strides : base.strides;
  derived.outs = base.outs;
  derived.written_checks = base.written_checks;
  derived.random = base.random;
  derived.cases = base.cases;
  derived.tolerance = base.tolerance;
  derived.tags = base.tags;
  // These two say something of the functional form only.
  std::erase_if(derived.tags, [](const std::string& t) { return t == "core" || t == "view_copy"; });
}

}  // namespace primset::specs
