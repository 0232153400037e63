#include "codegen/emit/llvm/target_machine.h"

#include <map>
#include <memory>
#include <mutex>

#include "codegen/emit/llvm/llvm_emitter.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "primset/error.h"

namespace primset::emit {
namespace {

struct HostCpu {
  std::string triple, name, features;
};

const HostCpu& host_cpu() {
  static const HostCpu host = [] {
    HostCpu h{llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(), ""};
    std::map<std::string, bool> sorted;
    for (const auto& f : llvm::sys::getHostCPUFeatures()) sorted[f.first().str()] = f.second;
    for (const auto& [name, on] : sorted) {
      h.features += (h.features.empty() ? "" : ",") + std::string(on ? "+" : "-") + name;
    }
    return h;
  }();
  return host;
}

struct MachineName {
  std::string triple, cpu, features;
  friend auto operator<=>(const MachineName&, const MachineName&) = default;
};

MachineName machine_name(const kir::TargetModel& model) {
  MachineName n{target_triple(model), model.cpu, model.features};
  if (model.format == kir::Format::ptx) {
    if (n.cpu.empty()) n.cpu = "sm_75";
  } else if (model.triple.empty() && model.cpu.empty()) {
    n.cpu = host_cpu().name;
    if (n.features.empty()) n.features = host_cpu().features;
  }
  return n;
}

void initialize_targets() {
  static std::once_flag done;
  std::call_once(done, [] {
#ifdef PRIMSET_LLVM_MACHINES  // those linked in
#define PRIMSET_LLVM_MACHINE(name)    \
  LLVMInitialize##name##TargetInfo(); \
  LLVMInitialize##name##Target();     \
  LLVMInitialize##name##TargetMC();   \
  LLVMInitialize##name##AsmPrinter();
#include PRIMSET_LLVM_MACHINES
#undef PRIMSET_LLVM_MACHINE
#else
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
#endif
  });
}

std::unique_ptr<llvm::TargetMachine> make_machine(const MachineName& n, std::string& error) {
  initialize_targets();
  const llvm::Triple triple(n.triple);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return nullptr;
  llvm::TargetOptions options;
  // a*b + c is two roundings: kernel IR says fma when it means one.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, n.cpu, n.features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

}  // namespace

std::string llvm_version() {
  return LLVM_VERSION_STRING;
}

const std::string& host_target() {
  static const std::string text =
      host_cpu().triple + ";" + host_cpu().name + ";" + host_cpu().features;
  return text;
}

std::string target_triple(const kir::TargetModel& model) {
  if (!model.triple.empty()) return model.triple;
  return model.format == kir::Format::ptx ? "nvptx64-nvidia-cuda" : host_cpu().triple;
}

llvm::TargetMachine* target_machine(const kir::TargetModel& model) {
  thread_local std::map<MachineName, std::unique_ptr<llvm::TargetMachine>> machines;
  const MachineName name = machine_name(model);
  if (const auto found = machines.find(name); found != machines.end()) return found->second.get();
  std::string error;
  auto machine = make_machine(name, error);
  if (machine == nullptr && model.format != kir::Format::llvm_bitcode) {
    throw Error(ErrorCode::not_implemented,
                "LLVM makes no code for '" + name.triple + "', CPU '" + name.cpu + "': " + error);
  }
  return (machines[name] = std::move(machine)).get();
}

}  // namespace primset::emit
