// The runtime's view of an overload of the spec bundle: its arguments in the form of the fast path.
#ifndef PRIMSET_SDK_RUNTIME_CALL_OPERATOR_INFO_H_
#define PRIMSET_SDK_RUNTIME_CALL_OPERATOR_INFO_H_

#include <primset/detail/call.h>
#include <primset/value.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "specs/bundle/model.h"

namespace primset::runtime {

using detail::Arg;
struct Call;

struct ArgInfo {
  const specs::Argument* spec = nullptr;
  specs::ArgKind kind = specs::ArgKind::tensor;
  bool optional = false;
  bool is_out = false;
  bool writes = false;   // (a!)
  bool runtime = false;  // its value is a kernel parameter, not part of the key
  Arg fallback;          // the default; `absent` when the argument must be given
};

// A host function that runs instead of a plan: see intrinsics.h.
using Intrinsic = void (*)(Call& call);

// What computes an operator on sparse tensors: see sdk/runtime/sparse/sparse_call.h.
class SparseCall;
using SparseFunction = std::vector<Tensor> (*)(SparseCall& call);

struct OperatorInfo {
  OperatorInfo(const specs::Bundle& bundle, const specs::Overload& overload);
  OperatorInfo(const OperatorInfo&) = delete;
  OperatorInfo& operator=(const OperatorInfo&) = delete;

  const specs::Bundle& bundle;
  const specs::Overload& overload;
  std::vector<ArgInfo> args;
  std::vector<uint32_t> outs;  // positions of the out= arguments
  bool is_view = false;
  bool all_tensors = true;  // every return is a Tensor
  bool writes = false;      // some argument is written
  // Which inputs may share memory with what is written. TensorIterator's rule is `whole`.
  specs::SharedMemory shared = specs::SharedMemory::any;
  bool uses_offset = false;  // its result depends on a tensor's storage offset
  bool by_element = false;   // element i of its results depends on elements i of its lists alone
  Intrinsic intrinsic = nullptr;
  bool recordable = true;  // graph capture can record it
  bool query = false;      // it looks at dtypes and geometry alone
  SparseFunction sparse = nullptr;
  bool only_sparse = false;  // nothing but `sparse` computes it

 private:
  void find_sparse_of(const specs::Overload& overload);
  void find_intrinsic_of(const specs::Overload& overload);
  Arg default_of(const specs::Argument& argument);

  // Owns what the defaults point to.
  std::vector<std::unique_ptr<std::vector<int64_t>>> lists_;
  std::vector<std::unique_ptr<Scalar>> scalars_;
};

// All operators of the process. Thread safe.
class OperatorRegistry {
 public:
  static OperatorRegistry& instance();

  const specs::Bundle& bundle() const { return *bundle_; }
  // "add.Tensor", "relu", "relu.default"; null when there is none.
  const OperatorInfo* find(std::string_view qualified);
  const OperatorInfo& at(std::string_view qualified);  // throws Error{not_implemented}
  const OperatorInfo& info(const specs::Overload& overload);
  // The overloads of a base name, in the order of the specs.
  std::vector<const OperatorInfo*> overloads(std::string_view base);

 private:
  OperatorRegistry();

  const specs::Bundle* bundle_;
  std::vector<std::atomic<OperatorInfo*>> infos_;  // by position in the bundle; made when asked for
  std::mutex mutex_;
};

// Replaces the bundle; before the first use of the registry only.
void set_bundle(std::unique_ptr<specs::Bundle> bundle);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CALL_OPERATOR_INFO_H_
