// The emitters' functions for programs that compile no kernels: they go without LLVM, which is ten
// times their size.
#include "codegen/emit/emitter.h"
#include "primset/error.h"

namespace primset::emit {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::not_implemented, "this program has no emitters");
}

}  // namespace

Binary emit(const kir::Kernel&, const kir::TargetModel&) {
  refuse();
}
std::string emit_text(const kir::Kernel&, const kir::TargetModel&) {
  refuse();
}
std::string emitter_version() {
  return "none";
}
std::string host_target_name() {
  return "none";
}

}  // namespace primset::emit
