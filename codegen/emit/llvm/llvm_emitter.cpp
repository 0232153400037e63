#include "codegen/emit/llvm/llvm_emitter.h"

#include <chrono>
#include <memory>

#include "codegen/emit/llvm/fatal_guard.h"
#include "codegen/emit/llvm/lowering.h"
#include "codegen/emit/llvm/native_image.h"
#include "codegen/emit/llvm/pipeline.h"
#include "codegen/emit/llvm/target_machine.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/raw_ostream.h"
#include "primset/error.h"

namespace primset::emit {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point& start) {
  const auto now = Clock::now();
  const double ms = std::chrono::duration<double, std::milli>(now - start).count();
  start = now;
  return ms;
}

// Collects what LLVM reports as errors. Its own handler would print and exit.
class Complaints : public llvm::DiagnosticHandler {
 public:
  explicit Complaints(std::string& text) : text_(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream out(text_);
      llvm::DiagnosticPrinterRawOStream printer(out);
      info.print(printer);
      out << "\n";
    }
    return true;
  }

 private:
  std::string& text_;
};

// The kernel's first instruction, written into its text: LLVM moves reads of what does not change
// while a kernel runs across any instruction of its own.
void wait_for_launch_before(llvm::SmallVectorImpl<char>& ptx) {
  static constexpr llvm::StringLiteral kWait = "\tgriddepcontrol.wait;\n";
  const llvm::StringRef text(ptx.data(), ptx.size());
  const auto is_instruction = [](llvm::StringRef line) {
    return line.starts_with("\t") && !line.starts_with("\t.") && !line.starts_with("\t//");
  };
  size_t line = text.find("\n{", text.find(".entry"));
  do line = text.find('\n', line) + 1;
  while (!is_instruction(text.substr(line)));
  ptx.insert(ptx.begin() + line, kWait.begin(), kWait.end());
}

// One kernel on its way through LLVM, with a context of its own: contexts are not shared by
// threads.
class Compilation {
 public:
  Compilation(const kir::Kernel& kernel, const kir::TargetModel& target, LlvmTimes* times)
      : kernel_(kernel), target_(target), times_(times != nullptr ? *times : unused_) {
    context_.setDiagnosticHandler(std::make_unique<Complaints>(complaints_));
  }

  std::vector<uint8_t> bytes() {
    prepare();
    auto start = Clock::now();
    if (target_.format == kir::Format::llvm_bitcode) {
      llvm::SmallVector<char, 0> out;
      llvm::raw_svector_ostream stream(out);
      llvm::WriteBitcodeToFile(*module_, stream);
      times_.codegen = since(start);
      return {out.begin(), out.end()};
    }
    const bool native = target_.format == kir::Format::native_image;
    const auto code =
        generate(native ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile);
    times_.codegen = since(start);
    if (!native) {
      std::vector<uint8_t> text(code.begin(), code.end());
      text.push_back(0);
      return text;
    }
    auto image = native_image(code, kernel_.name);
    times_.link = since(start);
    return image;
  }

  std::string text() {
    prepare();
    if (target_.format == kir::Format::llvm_bitcode) {
      std::string out;
      llvm::raw_string_ostream stream(out);
      module_->print(stream, nullptr);
      return out;
    }
    const auto code = generate(llvm::CodeGenFileType::AssemblyFile);
    return {code.begin(), code.end()};
  }

 private:
  void prepare() {
    machine_ = target_machine(kir::multiplies_in_group(kernel_) ? that_machine_alone() : target_);
    auto start = Clock::now();
    module_ = Lowering(context_, kernel_, target_, machine_).run();
    times_.lower = since(start);
    optimize(*module_, machine_);
    times_.optimize = since(start);
    check();
  }

  // Instructions that later machines do without are in PTX for one machine alone: sm_90a. It is
  // asked for where they are used, as all else of a kernel changes with it as well.
  kir::TargetModel that_machine_alone() const {
    kir::TargetModel model = target_;
    model.cpu += 'a';
    return model;
  }

  llvm::SmallVector<char, 0> generate(llvm::CodeGenFileType type) {
    auto code = generate_code(*module_, *machine_, type);
    check();
    if (target_.programmatic_dependent_launch) wait_for_launch_before(code);
    return code;
  }

  void check() const {
    if (complaints_.empty()) return;
    throw Error(ErrorCode::internal, "LLVM refuses kernel '" + kernel_.name + "': " + complaints_);
  }

  const kir::Kernel& kernel_;
  const kir::TargetModel& target_;
  LlvmTimes unused_;
  LlvmTimes& times_;
  std::string complaints_;
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;  // after the context: goes before it
  llvm::TargetMachine* machine_ = nullptr;
};

}  // namespace

Binary emit_llvm(const kir::Kernel& kernel, const kir::TargetModel& target, LlvmTimes* times) {
  Binary binary{target.format, {}};
  run_guarded([&] { binary.bytes = Compilation(kernel, target, times).bytes(); });
  return binary;
}

std::string llvm_text(const kir::Kernel& kernel, const kir::TargetModel& target) {
  std::string text;
  run_guarded([&] { text = Compilation(kernel, target, nullptr).text(); });
  return text;
}

}  // namespace primset::emit
