#include "codegen/emit/llvm/pipeline.h"

#include "codegen/emit/llvm/single_lane_stores.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "primset/error.h"

namespace primset::emit {
namespace {

// A library without functions: no pass may make a call that an image cannot resolve.
llvm::TargetLibraryInfoImpl no_library(const llvm::Module& module) {
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  library.disableAllFunctions();
  return library;
}

}  // namespace

void optimize(llvm::Module& module, llvm::TargetMachine* machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine);
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(no_library(module)); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);

  llvm::FunctionPassManager passes;
  // Private arrays with constant indices become values.
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  // Repeated address arithmetic, before it is simplified piece by piece.
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  // Parameter loads, splats and constants' vectors leave the loops; so do loads from invariant
  // memory.
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    passes.run(f, functions);
    scalarize_single_lane_stores(f);
  }
}

llvm::SmallVector<char, 0> generate_code(llvm::Module& module, llvm::TargetMachine& machine,
                                         llvm::CodeGenFileType file_type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(no_library(module)));
  if (machine.addPassesToEmitFile(passes, out, nullptr, file_type)) {
    throw Error(ErrorCode::not_implemented,
                "LLVM writes no such file for " + machine.getTargetTriple().str());
  }
  passes.run(module);
  return bytes;
}

}  // namespace primset::emit
