// The textual form of a program, for people.
#include <string>

#include "codegen/kernel/ir/text.h"
#include "codegen/schedule/program/program.h"

namespace primset::schedule {
namespace {

class Printer {
 public:
  explicit Printer(const Program& p) : p_(p), symbols_(p.graph->context()) {}

  std::string print() {
    for (size_t i = 0; i < p_.buffers.size(); ++i) {
      const Buffer& b = p_.buffers[i];
      line("b" + std::to_string(i) + " = " + kind(b.kind) +
           (b.kind == Buffer::Kind::temp || b.kind == Buffer::Kind::table
                ? ""
                : std::to_string(b.index)) +
           " " + std::string(name(b.dtype)) + "[" + text(b.elements) + "]  // " + b.note);
    }
    steps(p_.steps);
    for (const kir::Kernel& k : p_.kernels) out_ += "\n" + kir::print(k);
    return out_;
  }

 private:
  static std::string kind(Buffer::Kind k) {
    switch (k) {
      case Buffer::Kind::input:
        return "input ";
      case Buffer::Kind::output:
        return "output ";
      case Buffer::Kind::temp:
        return "temp";
      case Buffer::Kind::table:
        return "table";
      case Buffer::Kind::errors:
        return "errors ";
    }
    return "";
  }
  std::string text(const prims::SymInt& s) const { return symbols_.to_string(s); }
  void line(const std::string& s) { out_ += std::string(indent_, ' ') + s + "\n"; }

  void steps(const std::vector<Step>& list) {
    for (const Step& s : list) std::visit([&](const auto& x) { step(x); }, s.step);
  }
  void nested(const std::vector<Step>& list) {
    indent_ += 2;
    steps(list);
    indent_ -= 2;
  }
  void step(const LaunchStep& s) {
    std::string t =
        "launch kernel" + std::to_string(s.kernel) + " groups [" + text(s.groups[0]) + "] (";
    for (size_t i = 0; i < s.buffers.size(); ++i) {
      const BufferUse& u = s.buffers[i];
      t += (i != 0 ? ", b" : "b") + std::to_string(u.buffer) +
           (u.read && u.written ? " inout"
            : u.written         ? " out"
                                : "");
    }
    for (const ScalarParam& p : s.scalars) {
      t += p.source == ScalarParam::Source::integer ? "; " + text(p.value)
           : p.source == ScalarParam::Source::input ? "; scalar" + std::to_string(p.index)
                                                    : "; error base";
    }
    line(t + ")");
  }
  void step(const CopyStep& s) {
    line("copy b" + std::to_string(s.source) + " -> b" + std::to_string(s.target) + " [" +
         text(s.elements) + "]");
  }
  void step(const StridedCopyStep& s) {
    line("copy b" + std::to_string(s.source.buffer) + " -> b" + std::to_string(s.target.buffer) +
         " by strides");
  }
  void step(const NativeStep& s) {
    std::string t = "native " + std::string(info(p_.graph->node(s.node).prim).name) + " (";
    for (const auto& x : s.operands) t += "b" + std::to_string(x.buffer) + " ";
    t += "->";
    for (const auto& x : s.results) t += " b" + std::to_string(x.buffer);
    line(t + ")");
  }
  void step(const ReadCountStep& s) {
    line("read " + symbols_.symbol_name(s.symbol) + " from b" + std::to_string(s.buffer));
  }
  void step(const LoopStep& s) {
    line("for " + symbols_.symbol_name(s.symbol) + " < " + text(s.count));
    nested(s.body);
  }
  void step(const WhileStep& s) {
    line("while b" + std::to_string(s.condition) + " after");
    nested(s.test);
    line("do");
    nested(s.body);
  }
  void step(const BranchStep& s) {
    line("if b" + std::to_string(s.condition));
    nested(s.then_steps);
    line("else");
    nested(s.else_steps);
  }

  const Program& p_;
  const prims::SymContext& symbols_;
  std::string out_;
  size_t indent_ = 0;
};

}  // namespace

std::string print(const Program& program) {
  return Printer(program).print();
}

}  // namespace primset::schedule
