#include "sdk/runtime/sparse/sparse_call.h"

#include <algorithm>

#include "decomps/engine/promotion.h"
#include "sdk/runtime/call/bind.h"
#include "sdk/runtime/plan/key.h"

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

// What a written argument gets: the parts of a sparse result, the elements of a strided one.
void write(const Call& call, TensorImpl& to, const Tensor& result) {
  const TensorImpl& from = *result.impl();
  if (&to == &from) return;
  if (from.sparse && to.sparse) {
    if (to.dtype == from.dtype) return become_sparse(to, from);
    if (!decomps::can_cast(from.dtype, to.dtype))
      throw Error(ErrorCode::runtime,
                  fmt::format("result type {} can't be cast to the desired output type {}",
                              info(from.dtype).torch_name, info(to.dtype).torch_name));
    const Tensor cast = with_values(result, op("to.dtype", from.sparse->values, to.dtype));
    return become_sparse(to, *cast.impl());
  }
  const Tensor target = handle_of(to);
  if (from.sparse || to.sparse)
    throw Error(ErrorCode::runtime,
                fmt::format("{}: the result has layout {}; expected a tensor of that layout to "
                            "write it to, and found {}",
                            call.op.overload.qualified, layout_name(from.layout()),
                            layout_name(to.layout())));
  if (call.op.overload.kind == specs::OverloadKind::out) op("resize_", target, result.sizes());
  op("copy_", target, result, false);
}

ResultOrigin origin_of(const Call& call, const Tensor& result) {
  ResultOrigin origin;
  if (!result.defined()) return origin;  // one that was not asked for
  for_each_tensor(call.args, [&](const TensorImpl& t, uint32_t argument, uint32_t) {
    if (&t == result.impl()) origin = {ResultOrigin::Kind::argument, argument};
    if (origin.kind != ResultOrigin::Kind::fresh || !t.sparse || is_sparse(result)) return;
    for (const Tensor* part :
         {&t.sparse->indices, &t.sparse->compressed, &t.sparse->plain, &t.sparse->values}) {
      if (part->defined() && part->is_alias_of(result))
        origin = {ResultOrigin::Kind::view, argument};
    }
  });
  return origin;
}

bool shares_memory(const Call& call, const Tensor& part) {
  bool shared = false;
  for_each_tensor(call.args, [&](const TensorImpl& t, uint32_t, uint32_t) {
    if (!t.sparse) {
      shared = shared || t.storage == part.impl()->storage;
      return;
    }
    for (const Tensor* p :
         {&t.sparse->indices, &t.sparse->compressed, &t.sparse->plain, &t.sparse->values})
      shared = shared || (p->defined() && p->is_alias_of(part));
  });
  return shared;
}

// As ATen does, a compressed tensor with as many entries is overwritten part by part.
bool overwritten(const TensorImpl& to, const SparseParts& parts) {
  if (!to.sparse || to.sparse->layout != parts.layout || parts.layout == Layout::sparse_coo)
    return false;
  const std::pair<const Tensor*, const Tensor*> pairs[] = {
      {&to.sparse->compressed, &parts.compressed},
      {&to.sparse->plain, &parts.plain},
      {&to.sparse->values, &parts.values}};
  for (const auto& [own, made] : pairs) {
    if (own->dtype() != made->dtype() || !std::ranges::equal(own->sizes(), made->sizes()))
      return false;
  }
  for (const auto& [own, made] : pairs) op("copy_", *own, *made, false);
  return true;
}

// What an out= tensor gets has no memory in common with an argument.
Tensor for_out(const Call& call, const Tensor& result, const TensorImpl& to) {
  if (call.op.only_sparse && result.dtype() != to.dtype)
    throw Error(ErrorCode::runtime,
                fmt::format("{}: expected out tensor to have dtype {}, but got {} instead",
                            call.op.overload.qualified, info(result.dtype()).torch_name,
                            info(to.dtype).torch_name));
  if (!is_sparse(result)) return result;
  SparseParts parts = parts_of(result);
  if (overwritten(to, parts)) return make_sparse(*to.sparse, result.sizes());
  for (Tensor* part : {&parts.indices, &parts.compressed, &parts.plain, &parts.values}) {
    if (part->defined() && shares_memory(call, *part)) *part = op("clone", *part, std::nullopt);
  }
  return make_sparse(std::move(parts), result.sizes());
}

// The k-th argument that the call writes.
std::optional<uint32_t> written_argument(const Call& call, size_t k) {
  for (uint32_t i = 0; i < call.op.args.size(); ++i) {
    if (call.op.args[i].writes && k-- == 0) return i;
  }
  return std::nullopt;
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
  std::vector<Tensor> results = call.op.sparse(sparse);
  for (size_t k = 0; k < results.size(); ++k) {
    const std::optional<uint32_t> written = written_argument(call, k);
    if (!written) {
      const ResultOrigin origin = origin_of(call, results[k]);
      call.add_result(std::move(results[k]), origin);
      continue;
    }
    auto& target = const_cast<TensorImpl&>(*call.tensor(*written));
    const bool out = call.op.overload.kind == specs::OverloadKind::out;
    write(call, target, out ? for_out(call, results[k], target) : results[k]);
    call.add_result(handle_of(target), {ResultOrigin::Kind::argument, *written});
  }
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
