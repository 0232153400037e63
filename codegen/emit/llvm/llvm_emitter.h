// Kernel IR through LLVM, to three formats. LLVM's own headers stay inside this folder.
//
// native_image  Machine code behind a primset_native_image header (primset/plugin.h), for the CPU
//               that the model's strings name; the host's when they are empty.
//
// ptx           Text for ptxas or the driver, NUL-terminated. One kernel; its arguments are
//               Kernel::params in order, so that param_layout() also describes the launch's
//               parameter buffer. Group memory is static .shared. sm_75 unless the model's cpu says
//               otherwise. With programmatic_dependent_launch (sm_90 on) it begins with
//               griddepcontrol.wait.
//
// llvm_bitcode  A module for the model's triple (whose data layout it has if this LLVM knows the
//               triple), with one external function named as the kernel and no other definition.
//               A model without SIMT gets the entry of a native image:
//                 void kernel(ptr params, i64 first_group, i64 end_group, i64 total_groups)
//               A SIMT model gets a function of Kernel::params in order, run once by each thread.
//               Pointers to global memory are in address space 1, workgroup memory is an internal
//               global in address space 3, private memory is an alloca. What a device must supply,
//               as calls that the vendor's compiler links or replaces (all convergent, nounwind):
//                 i32 primset_group_id(i32 dim)      i32 primset_group_count(i32 dim)
//                 i32 primset_local_id(i32 dim)      void primset_barrier()
//                 i32 primset_subgroup_size()        i32 primset_subgroup_lane()
//                 T primset_subgroup_shuffle_xor_T(T value, i32 mask), T one of i32 i64 f32 f64
//               And where the device says PRIMSET_FEATURE_BALLOT:
//                 T primset_subgroup_shuffle_T(T value, i32 lane)
//                 i32 primset_subgroup_ballot(i1 condition, i32 word)
//               Other calls are LLVM intrinsics: masked loads and stores, gathers and scatters,
//               ctpop, fma, sqrt, fabs, floor, ceil, trunc, roundeven, vector reductions.
#ifndef PRIMSET_CODEGEN_EMIT_LLVM_LLVM_EMITTER_H_
#define PRIMSET_CODEGEN_EMIT_LLVM_LLVM_EMITTER_H_

#include <string>

#include "codegen/emit/emitter.h"

namespace primset::emit {

// Milliseconds that one emission took.
struct LlvmTimes {
  double lower = 0;     // kernel IR to LLVM IR, and LLVM's verifier
  double optimize = 0;  // LLVM IR to LLVM IR
  double codegen = 0;   // to an object, PTX or bitcode
  double link = 0;      // object to native image
};

// The kernel must have passed kir::verify(). Throws primset::Error{internal} with LLVM's words when
// LLVM fails, primset::Error{not_implemented} for a target this LLVM lacks. Thread safe.
Binary emit_llvm(const kir::Kernel& kernel, const kir::TargetModel& target,
                 LlvmTimes* times = nullptr);
// Assembly, LLVM IR or PTX.
std::string llvm_text(const kir::Kernel& kernel, const kir::TargetModel& target);

std::string llvm_version();  // "22.1.8"
// What empty strings in a TargetModel stand for: "x86_64-pc-linux-gnu;sapphirerapids;+avx512f,..."
const std::string& host_target();

}  // namespace primset::emit

#endif  // PRIMSET_CODEGEN_EMIT_LLVM_LLVM_EMITTER_H_
