#include "sdk/runtime/call/operator_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "decomps/engine/engine.h"
#include "primset/detail/mismatch.h"
#include "primset/error.h"
#include "sdk/runtime/call/intrinsics.h"
#include "sdk/runtime/sparse/sparse_functions.h"
#include "specs/bundle/reader.h"

namespace primset {
namespace runtime {
namespace {

using specs::ArgKind;
using specs::DefaultKind;

std::unique_ptr<specs::Bundle>& replacement() {
  static auto* bundle = new std::unique_ptr<specs::Bundle>;
  return *bundle;
}
std::atomic<bool> registry_made{false};

Arg enumeration(ArgKind kind, int64_t code) {
  switch (kind) {
    case ArgKind::scalar_type:
      return Arg(static_cast<DType>(code));
    case ArgKind::layout:
      return Arg(static_cast<Layout>(code));
    case ArgKind::memory_format:
      return Arg(static_cast<MemoryFormat>(code));
    default:
      return Arg(code);  // a reduction mode: an int
  }
}

}  // namespace

OperatorInfo::OperatorInfo(const specs::Bundle& b, const specs::Overload& o)
    : bundle(b), overload(o) {
  for (uint32_t i = 0; i < o.args.size(); ++i) {
    const specs::Argument& a = o.args[i];
    ArgInfo& info = args.emplace_back();
    info.spec = &a;
    info.kind = a.kind;
    info.optional = a.optional;
    info.is_out = a.is_out;
    info.writes = a.alias.writes;
    info.runtime = a.role == specs::Role::runtime;
    info.fallback = default_of(a);
    writes |= info.writes;
    if (a.is_out) outs.push_back(i);
  }
  all_tensors = std::ranges::all_of(
      o.returns, [](const specs::Return& r) { return r.kind == ArgKind::tensor; });
  is_view = o.status == specs::Status::implemented && decomps::is_view(b, o);
  const bool out = o.kind == specs::OverloadKind::out;
  const specs::StrideRule& stepping = out ? o.outs.strides : b.computed_by(o).strides;
  if (stepping.kind == specs::StrideKind::elementwise) shared = specs::SharedMemory::whole;
  // Written in place, self is no input; the others are refused as beside out=.
  const bool written = out || (writes && o.outs.shared == specs::SharedMemory::self);
  if (written && o.outs.shared != specs::SharedMemory::any) shared = o.outs.shared;
  uses_offset = b.computed_by(o).reads_offset;
  const bool lists = std::ranges::any_of(
      args, [](const ArgInfo& a) { return a.kind == ArgKind::tensor_list && !a.is_out; });
  by_element = lists && b.computed_by(o).implementation.kind == specs::ImplKind::formula;
  if (!o.intrinsic.empty()) find_intrinsic_of(o);
  find_sparse_of(b.computed_by(o));
}

void OperatorInfo::find_intrinsic_of(const specs::Overload& o) {
  const IntrinsicEntry* entry = find_intrinsic(o.intrinsic);
  if (entry == nullptr)
    throw Error(ErrorCode::not_implemented,
                fmt::format("{} is carried out by the intrinsic '{}', which this library lacks; "
                            "expected a name of specs/host_functions.yaml",
                            o.qualified, o.intrinsic));
  intrinsic = entry->function;
  recordable = entry->recordable;
  query = entry->query;
}

void OperatorInfo::find_sparse_of(const specs::Overload& o) {
  if (o.sparse.empty()) return;
  sparse = find_sparse_function(o.sparse);
  if (sparse == nullptr)
    throw Error(ErrorCode::not_implemented,
                fmt::format("{} has the sparse function '{}', which this library lacks; expected a "
                            "name of specs/host_functions.yaml",
                            o.qualified, o.sparse));
  only_sparse = o.implementation.kind == specs::ImplKind::none && intrinsic == nullptr;
}

Arg OperatorInfo::default_of(const specs::Argument& a) {
  const specs::DefaultValue& d = a.default_value;
  switch (d.kind) {
    case DefaultKind::absent:
      return Arg();
    case DefaultKind::none:
      return Arg(std::nullopt);
    case DefaultKind::string:
      return Arg(std::string_view(d.text));
    case DefaultKind::enumeration:
      return enumeration(a.kind, d.integer);
    case DefaultKind::int_list:
      lists_.push_back(std::make_unique<std::vector<int64_t>>(d.list));
      return Arg(IntList(*lists_.back()));
    case DefaultKind::integer:
    case DefaultKind::floating:
    case DefaultKind::boolean:
      break;
  }
  const bool floating = d.kind == DefaultKind::floating;
  if (a.kind == ArgKind::scalar) {
    scalars_.push_back(std::make_unique<Scalar>(floating ? Scalar(d.floating)
                                                : d.kind == DefaultKind::boolean
                                                    ? Scalar(d.integer != 0)
                                                    : Scalar(d.integer)));
    return Arg(*scalars_.back());
  }
  if (specs::is_list_kind(a.kind)) {
    const auto n = static_cast<size_t>(std::max(a.fixed_size, 1));
    lists_.push_back(std::make_unique<std::vector<int64_t>>(n, d.integer));
    return Arg(IntList(*lists_.back()));
  }
  if (a.kind == ArgKind::floating) return Arg(floating ? d.floating : double(d.integer));
  if (a.kind == ArgKind::boolean) return Arg(d.integer != 0);
  return floating ? Arg(d.floating) : Arg(d.integer);
}

void set_bundle(std::unique_ptr<specs::Bundle> bundle) {
  if (registry_made)
    throw Error(ErrorCode::runtime, "load_specs: operators are in use already; call it first");
  replacement() = std::move(bundle);
}

OperatorRegistry::OperatorRegistry()
    : bundle_(replacement() ? replacement().get() : &specs::embedded_bundle()),
      infos_(bundle_->overloads.size()) {
  registry_made = true;
}

OperatorRegistry& OperatorRegistry::instance() {
  static auto* registry = new OperatorRegistry;
  return *registry;
}

const OperatorInfo& OperatorRegistry::info(const specs::Overload& overload) {
  auto& slot = infos_[bundle_->index_of(overload)];
  if (OperatorInfo* known = slot.load(std::memory_order_acquire)) return *known;
  std::lock_guard lock(mutex_);
  if (OperatorInfo* known = slot.load(std::memory_order_acquire)) return *known;
  auto* made = new OperatorInfo(*bundle_, overload);
  slot.store(made, std::memory_order_release);
  return *made;
}

const OperatorInfo* OperatorRegistry::find(std::string_view qualified) {
  constexpr std::string_view kDefault = ".default";
  if (qualified.ends_with(kDefault)) qualified.remove_suffix(kDefault.size());
  const specs::Overload* o = bundle_->find_overload(qualified);
  return o ? &info(*o) : nullptr;
}

const OperatorInfo& OperatorRegistry::at(std::string_view qualified) {
  if (const OperatorInfo* found = find(qualified)) return *found;
  throw Error(ErrorCode::not_implemented, detail::unknown_operator(qualified));
}

std::vector<const OperatorInfo*> OperatorRegistry::overloads(std::string_view base) {
  std::vector<const OperatorInfo*> list;
  for (const specs::Overload& o : bundle_->overloads) {
    if (o.op == base) list.push_back(&info(o));
  }
  return list;
}

}  // namespace runtime

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const specs::Overload& o : runtime::OperatorRegistry::instance().bundle().overloads) {
    if (!o.internal) names.push_back(o.qualified);
  }
  return names;
}

}  // namespace primset
