#include "sdk/runtime/sparse/sparse_call.h"

#include <algorithm>

#include "sdk/runtime/call/bind.h"
#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/sparse/results.h"

namespace primset::runtime {
namespace {

struct Entry {
  std::string_view name;
  SparseFunction function;
};
constexpr Entry kTable[] = {
#define PRIMSET_SPARSE(name) {#name, sparse_functions::name},
#include "specs/host_functions.inc"
};

const Arg kNone{std::nullopt};

// The first argument that makes it a sparse call.
const ArgInfo& sparse_argument(const Call& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Arg& a = call.args[i];
    if (a.kind == Arg::Kind::tensor && call.tensor(i)->sparse) return call.op.args[i];
    if (a.kind == Arg::Kind::layout && a.integer != 0) return call.op.args[i];
    if (a.kind != Arg::Kind::tensor_list) continue;
    for (uint32_t e = 0; e < a.count; ++e) {
      if (is_sparse(static_cast<const Tensor*>(a.pointer)[e])) return call.op.args[i];
    }
  }
  return call.op.args[0];
}

[[noreturn]] void refuse(const Call& call) {
  const ArgInfo& argument = sparse_argument(call);
  throw Error(ErrorCode::not_implemented,
              fmt::format("{} does not take sparse layouts, which '{}' {}; expected a strided "
                          "tensor, as to_dense() makes of one",
                          call.op.overload.qualified, argument.spec->name,
                          argument.kind == specs::ArgKind::layout ? "names" : "has"));
}

}  // namespace

SparseFunction find_sparse_function(std::string_view name) {
  const auto* e = std::ranges::find(kTable, name, &Entry::name);
  return e == std::end(kTable) ? nullptr : e->function;
}

bool is_sparse_call(const Call& call) {
  for (const Arg& a : call.args) {
    if (a.kind == Arg::Kind::tensor) {
      if (static_cast<const TensorImpl*>(a.pointer)->sparse) return true;
    } else if (a.kind == Arg::Kind::tensor_list) {
      const Tensor* list = static_cast<const Tensor*>(a.pointer);
      if (std::any_of(list, list + a.count, is_sparse)) return true;
    } else if (a.kind == Arg::Kind::layout && a.integer != 0) {
      return true;
    }
  }
  return false;
}

void run_sparse(Call& call) {
  if (call.op.sparse == nullptr) refuse(call);
  call.device = &device_of(call);
  SparseCall sparse(call);
  put_results(call, call.op.sparse(sparse));
}

// --- arguments -----------------------------------------------------------------------------------

const Arg& SparseCall::arg(std::string_view name) const {
  const int i = call_.op.overload.find_arg(name);
  return i < 0 ? kNone : call_.args[static_cast<size_t>(i)];
}

bool SparseCall::has(std::string_view name) const {
  return arg(name).kind != Arg::Kind::none;
}

Tensor SparseCall::tensor(std::string_view name) const {
  const Arg& a = arg(name);
  if (a.kind == Arg::Kind::none) return {};
  if (is_number(a)) return Tensor::wrapped_number(scalar_of(a));
  return handle_of(*static_cast<const TensorImpl*>(a.pointer));
}

std::vector<Tensor> SparseCall::tensors(std::string_view name) const {
  const Arg& a = arg(name);
  const Tensor* list = static_cast<const Tensor*>(a.pointer);
  return a.kind == Arg::Kind::tensor_list ? std::vector<Tensor>(list, list + a.count)
                                          : std::vector<Tensor>();
}

Ints SparseCall::ints(std::string_view name) const {
  const Arg& a = arg(name);
  return a.kind == Arg::Kind::int_list ? Ints(static_cast<const int64_t*>(a.pointer), a.count)
                                       : Ints();
}

int64_t SparseCall::integer(std::string_view name, int64_t otherwise) const {
  return has(name) ? arg(name).integer : otherwise;
}

bool SparseCall::flag(std::string_view name, bool otherwise) const {
  return has(name) ? arg(name).integer != 0 : otherwise;
}

std::vector<bool> SparseCall::flags(std::string_view name) const {
  const Arg& a = arg(name);
  if (a.kind == Arg::Kind::packed_bools) return *static_cast<const std::vector<bool>*>(a.pointer);
  const bool* list = static_cast<const bool*>(a.pointer);
  return a.kind == Arg::Kind::bool_list ? std::vector<bool>(list, list + a.count)
                                        : std::vector<bool>();
}

Scalar SparseCall::scalar(std::string_view name) const {
  return scalar_of(arg(name));
}

std::string_view SparseCall::text(std::string_view name) const {
  const Arg& a = arg(name);
  return a.kind == Arg::Kind::string
             ? std::string_view(static_cast<const char*>(a.pointer), a.count)
             : std::string_view();
}

std::optional<DType> SparseCall::dtype(std::string_view name) const {
  return has(name) ? std::optional(static_cast<DType>(arg(name).integer)) : std::nullopt;
}

std::optional<Layout> SparseCall::layout(std::string_view name) const {
  return has(name) ? std::optional(static_cast<Layout>(arg(name).integer)) : std::nullopt;
}

Device SparseCall::device(const Tensor& otherwise) const {
  if (has("device")) return arg("device").device;
  return otherwise.defined() ? otherwise.device() : current_device();
}

void SparseCall::fail(std::string text, ErrorCode code) const {
  throw Error(code, fmt::format("{}: {}", op(), text));
}

Tensor SparseCall::call_with(const OperatorInfo& op, Replacements with) const {
  Call inner(op);
  for (const ArgInfo& a : op.args) {
    const auto* r = std::ranges::find(with, a.spec->name, &Replacement::name);
    const int given = call_.op.overload.find_arg(a.spec->name);
    inner.args.push_back(r != with.end() ? Arg(r->tensor)
                         : given < 0     ? a.fallback
                                         : call_.args[static_cast<size_t>(given)]);
  }
  dispatch_inner(inner);
  return inner.results.take(0);
}

Tensor SparseCall::again(Replacements with) const {
  return call_with(call_.op, with);
}

Tensor SparseCall::functional(Replacements with) const {
  const specs::Overload& base = call_.op.bundle.computed_by(call_.op.overload);
  return call_with(OperatorRegistry::instance().info(base), with);
}

// --- calls of operators on parts -----------------------------------------------------------------

std::vector<Tensor> call_operators(std::string_view qualified, std::span<const Arg> args) {
  Call call(OperatorRegistry::instance().at(qualified));
  bind_unboxed(call, args);
  dispatch_inner(call);
  std::vector<Tensor> out;
  for (size_t k = 0; k < call.results.size(); ++k) out.push_back(call.results.take(k));
  return out;
}

int64_t integer_in(const Tensor& t) {
  return t.item().to_int();
}

Tensor alias_of(const Tensor& t) {
  const TensorImpl& impl = *t.impl();
  return Tensor(new_view(impl, impl.sizes(), impl.strides(), impl.offset));
}

// --- sparse tensors ------------------------------------------------------------------------------

std::optional<Layout> layout_in_name(std::string_view op) {
  constexpr size_t kKind = 6;  // "_csr" of "sparse_csr"
  for (const LayoutName& l : kLayoutNames) {
    if (l.layout == Layout::strided || l.layout == Layout::sparse_coo) continue;
    if (op.find(l.name.substr(kKind)) != std::string_view::npos) return l.layout;
  }
  return std::nullopt;
}

int64_t sparse_dims(const Tensor& t) {
  return is_coo(t) ? parts_of(t).indices.size(0) : 2;
}

int64_t dense_dims(const Tensor& t) {
  if (is_coo(t)) return parts_of(t).values.dim() - 1;
  const int64_t blocks = has_blocks(t.layout()) ? 2 : 0;
  return parts_of(t).values.dim() - batch_dims(t) - 1 - blocks;
}

int64_t batch_dims(const Tensor& t) {
  return is_coo(t) ? 0 : parts_of(t).compressed.dim() - 1;
}

int64_t stored_entries(const Tensor& t) {
  return is_coo(t) ? parts_of(t).values.size(0) : parts_of(t).plain.size(-1);
}

Tensor with_values(const Tensor& t, const Tensor& values) {
  SparseParts parts = parts_of(t);
  Sizes sizes(t.sizes().begin(), t.sizes().end());
  if (is_coo(t)) {
    sizes.resize(static_cast<size_t>(sparse_dims(t)));
    for (int64_t d = 1; d < values.dim(); ++d) sizes.push_back(values.size(d));
  }
  parts.values = values;
  return make_sparse(std::move(parts), sizes);
}

}  // namespace primset::runtime
