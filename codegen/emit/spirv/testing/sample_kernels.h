// Test only: kernels that between them use every operation that is not elementwise. They are
// validated in both flavours, and the tests that run them say what they compute.
#ifndef PRIMSET_CODEGEN_EMIT_SPIRV_TESTING_SAMPLE_KERNELS_H_
#define PRIMSET_CODEGEN_EMIT_SPIRV_TESTING_SAMPLE_KERNELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"

namespace primset::emit::testing {

using kir::Kernel;
using kir::Scalar;
using kir::TargetModel;

inline constexpr uint32_t kSampleThreads = 64;

// --- memory. i is the thread's number over all groups.

// out[i * lanes + l] = in[...] + 1 where mask[...] is odd, else kept; in is read where mask is odd.
Kernel masked_copy(const TargetModel& target, Scalar elem, uint16_t lanes);
// out[to[j]] = in[from[j]] for j = i * lanes + l where mask[j] is odd; 7 is scattered elsewhere to
// to[j] where mask[j] is even but not zero.
Kernel gather_scatter(const TargetModel& target, Scalar elem, uint16_t lanes, bool wide_index);
// out[i * lanes + l] = in[...] of pointers aligned to so many bytes.
Kernel aligned_copy(const TargetModel& target, Scalar elem, uint16_t lanes, uint32_t align);
// 16-bit elements as the upper halves of words and back, to which `to_add` has been added.
Kernel upper_halves(const TargetModel& target, uint16_t lanes, uint32_t align, uint32_t to_add);
// A private array of 16 filled with i * k at k * 5 % 16; out[i] = its sum weighted by position.
Kernel private_array(const TargetModel& target, Scalar elem);
// table[i] is an address; out[i] = *(i32*)(table[i] + 4) + *(i32*)(i odd ? a : b)
Kernel pointer_table(const TargetModel& target);
// old[i] = rmw(x[slot[i]], v[i]) in global memory.
Kernel global_atomic(const TargetModel& target, kir::Rmw rmw, Scalar elem);
// The same in a workgroup array of 8, set to v[0]; its end goes to out[group * 8 ...].
Kernel group_atomic(const TargetModel& target, kir::Rmw rmw, Scalar elem);
// Adds v[i] to x[0] with compare-exchange.
Kernel cas_add(const TargetModel& target, Scalar elem, bool in_group);

// --- the workgroup.

// out[group] = sum of in[...] over the group's `threads`, by a tree in workgroup memory.
Kernel tree_sum(const TargetModel& target, Scalar elem, uint32_t threads);
// out[i] = in[i ^ mask] by subgroup shuffle; size[i], lane[i]
Kernel subgroup_exchange(const TargetModel& target, Scalar elem, uint32_t mask);
// odd[i] = how many lanes of its subgroup before it have an odd in[]; next[i] = in[] of the lane
// behind it, the first one's for the last.
Kernel subgroup_votes(const TargetModel& target);

// --- control flow.

// out[i] = the steps Collatz takes from in[i], with the largest value on the way in high[i].
Kernel collatz(const TargetModel& target);
// Nested for with carried vec<f32, 16> and i64: out[i*16 + l] = sum over j < n, k < j of
// in[l] * (j + k), count[i] = number of (j, k); n = in count[i].
Kernel nested_loops(const TargetModel& target);
// if in if, results of each kind: out[i] by the two lowest bits of in[i].
Kernel nested_ifs(const TargetModel& target);
// out[i] = a number that in[i] steps of a for, or of a while, make.
Kernel long_loop(const TargetModel& target, bool is_while);
// Stores and masked accesses in loops and ifs; the condition of the while has an if of its own.
Kernel effects_in_regions(const TargetModel& target);

// --- vectors and parameters.

// Shuffle, insert, extract, any, all, iota, splat on vec<i32, lanes>: see the test.
Kernel vector_moves(const TargetModel& target, uint16_t lanes);
// out[k] = scalar parameter k as bits, for n times i32, f32, i64, f64; out is a pointer.
Kernel parameters(const TargetModel& target, uint32_t n);
// out[i * 8 ...] = group id, group count, local id of each dimension, in a 4x2x2 group.
Kernel ids(const TargetModel& target);

struct Sample {
  std::string name;
  Kernel kernel;
  // Whether the verifier lets it pass: the emitter also does atomics on 8 and 16 bits and shuffles
  // of i1, i8 and i16.
  bool verified = true;
};
// All of them, with the types they take.
std::vector<Sample> all_samples(const TargetModel& target);

}  // namespace primset::emit::testing

#endif  // PRIMSET_CODEGEN_EMIT_SPIRV_TESTING_SAMPLE_KERNELS_H_
