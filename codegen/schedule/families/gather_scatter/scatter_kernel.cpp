#include "codegen/schedule/families/gather_scatter/scatter_kernel.h"

#include "codegen/schedule/element/bounds_check.h"
#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/loops/loops.h"
#include "primset/error.h"

namespace primset::schedule {

using kir::Value;
using prims::Prim;
using prims::ValueId;

namespace {

// Runs body for every point, in row-major order, by one thread alone.
void for_each_in_order(Frame& f, std::vector<LoopDim> loops, const std::function<void()>& body) {
  kir::Builder& b = f.builder();
  f.set_lanes(1);
  f.step().groups = {1, 1, 1};
  b.for_loop(f.index_constant(0), f.param(extent(loops, 0, loops.size())), f.index_constant(1), {},
             [&](Value i, auto) {
               delinearize(f, i, loops, 0, loops.size());
               f.set_loops(loops);
               body();
               return kir::Builder::Values{};
             });
}

Prim combining(Prim p) {
  switch (p) {
    case Prim::scatter_add:
      return Prim::add;
    case Prim::scatter_mul:
      return Prim::mul;
    case Prim::scatter_min:
      return Prim::min;
    default:
      return Prim::max;
  }
}

// The atomic operation that does it on this device, if there is one.
std::optional<kir::Rmw> atomic(const kir::TargetModel& t, Prim p, DType dtype) {
  const bool wide = dtype == DType::i64 && t.atomic_i64;
  if (dtype == DType::i32 || wide) {
    if (p == Prim::scatter_add) return kir::Rmw::add;
    if (p == Prim::scatter_min) return kir::Rmw::min_s;
    if (p == Prim::scatter_max) return kir::Rmw::max_s;
  }
  if (dtype == DType::f32 && p == Prim::scatter_add && t.atomic_f32_add) return kir::Rmw::fadd;
  return std::nullopt;
}

class ScatterBuilder {
 public:
  ScatterBuilder(const BuildContext& c, prims::NodeId node, const Placement& target)
      : c_(c),
        n_(c.values.graph.node(node)),
        target_(target),
        g_(c.values.graph),
        domain_(g_.type(n_.operands.back()).shape),
        f_(c.name, c.target, c.index32, domain_),
        e_(f_, c.values) {
    f_.set_error_buffer(c.errors);
  }

  BuiltKernel build() {
    std::vector<size_t> order;
    for (size_t d = 0; d < domain_.size(); ++d) order.push_back(d);
    const DType dtype = g_.type(n_.operands[0]).dtype;
    // Without an order to keep, threads may race: last writer wins, or an atomic combines. Floating
    // sums on a CPU stay in order, so that results do not depend on the number of threads.
    const auto rmw = atomic(c_.target, n_.prim, dtype);
    const bool plain = n_.prim == Prim::scatter && !n_.attr<bool>("ordered");
    const bool parallel = c_.target.simt && (plain || rmw);
    auto body = [&] {
      ElementEmitter::Scope scope(e_);
      write(dtype, parallel ? rmw : std::nullopt);
    };
    const auto loops = separate_loops(domain_, order);
    if (parallel)
      for_each_point(f_, loops, body);
    else
      for_each_in_order(f_, loops, body);
    return built(std::move(f_));
  }

 private:
  void write(DType dtype, std::optional<kir::Rmw> rmw) {
    kir::Builder& b = f_.builder();
    Value fits;
    const Indices source = identity_indices(domain_);
    Affine address = address_of(source, fits);
    ElementValue update = e_.emit(n_.operands.back(), source);
    auto put = [&] {
      if (rmw) {
        b.atomic_rmw(*rmw, f_.buffer(target_.buffer, true, true), f_.materialize(address),
                     update.re, static_cast<uint32_t>(kir::bytes(memory_scalar(dtype))));
        return;
      }
      ElementValue v = update;
      if (n_.prim != Prim::scatter) {
        const ElementValue in[] = {f_.load(target_.buffer, dtype, address), update};
        v = is_complex(dtype) ? lower_combine(b, Prim::reduce_sum, dtype, in[0], in[1])
                              : lower_elementwise(b, combining(n_.prim), dtype, dtype, in);
      }
      f_.store(target_.buffer, dtype, address, v);
    };
    if (fits.valid())
      b.if_then(fits, put);
    else
      put();
  }

  // The update's place; `fits` says whether every index is in range, if any may not be.
  Affine address_of(const Indices& at, Value& fits) {
    kir::Builder& b = f_.builder();
    const auto& dims = n_.attr<std::vector<int64_t>>("dims");
    const bool in_bounds = n_.attr<bool>("in_bounds");
    const SymInts& shape = g_.type(n_.operands[0]).shape;
    const size_t batch = g_.type(n_.operands[1]).rank();
    const Indices index_at(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(batch));
    Affine address;
    address.constant = target_.offset;
    std::vector<bool> indexed(shape.size());
    for (size_t k = 0; k < dims.size(); ++k) {
      const auto d = static_cast<size_t>(dims[k]);
      indexed[d] = true;
      Value wide = e_.emit(n_.operands[1 + k], index_at).re;
      if (!in_bounds) {
        const Value ok = check_bounds(f_, c_.values, n_, k, wide);
        fits = fits.valid() ? b.and_(fits, ok) : ok;
      }
      Affine i;
      i.opaque = f_.index(wide);
      address = f_.add(address, f_.scale(i, target_.strides[d]));
    }
    size_t rest = batch;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!indexed[d]) address = f_.add(address, f_.scale(at[rest++].affine, target_.strides[d]));
    }
    return address;
  }

  const BuildContext& c_;
  const prims::Node& n_;
  const Placement& target_;
  const prims::Graph& g_;
  SymInts domain_;
  Frame f_;
  ElementEmitter e_;
};

}  // namespace

BuiltKernel scatter_kernel(const BuildContext& c, prims::NodeId node, const Placement& target) {
  return ScatterBuilder(c, node, target).build();
}

}  // namespace primset::schedule
