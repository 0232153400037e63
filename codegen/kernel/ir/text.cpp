// The printer. The parser is in text_parser.cpp.
#include "codegen/kernel/ir/text.h"

#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>

namespace primset::kir {
namespace {

bool is_identifier(std::string_view s) {
  if (s.empty() || std::isdigit(static_cast<unsigned char>(s[0]))) return false;
  for (char c : s) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  }
  return true;
}

std::string in_quotes(std::string_view s) {
  if (is_identifier(s)) return std::string(s);
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string hex(uint64_t bits) {
  char buffer[17];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, bits, 16).ptr;
  return "0x" + std::string(buffer, end);
}

// The shortest decimal that reads back as the same number.
template <typename T>
std::string decimal(T v, uint64_t bits) {
  if (!std::isfinite(v)) return hex(bits);
  char buffer[40];
  std::string out(buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string constant_text(Scalar s, uint64_t bits) {
  if (s == Scalar::i1 && bits <= 1) return bits != 0 ? "true" : "false";
  if (s == Scalar::f32 && bits <= UINT32_MAX) {
    return decimal(std::bit_cast<float>(static_cast<uint32_t>(bits)), bits);
  }
  if (s == Scalar::f64) return decimal(std::bit_cast<double>(bits), bits);
  const int unused = 64 - width(s);
  if (!is_int(s) || s == Scalar::i1 || (bits << unused) >> unused != bits) return hex(bits);
  return std::to_string(static_cast<int64_t>(bits << unused) >> unused);
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel, ParamNames names = ParamNames::given)
      : kernel_(kernel), names_(names), numbers_(kernel.types.size(), -1) {
    visited_.resize(kernel.blocks.size());
    if (!kernel_.blocks.empty()) number_block(0);
    visited_.assign(kernel.blocks.size(), false);
  }

  std::string kernel_text() {
    out_ = "kernel @" + in_quotes(kernel_.name) + "(";
    const char* separator = "";
    for (size_t i = 0; i < kernel_.params.size(); ++i) {
      const Param& p = kernel_.params[i];
      const std::string name =
          names_ == ParamNames::given ? in_quotes(p.name) : "p" + std::to_string(i);
      out_ += separator + name + ": " + to_string(p.type);
      if (p.read) out_ += " read";
      if (p.written) out_ += " write";
      if (p.invariant) out_ += " invariant";
      if (p.evict_last) out_ += " kept";
      separator = ", ";
    }
    const auto& g = kernel_.group_size;
    out_ += ") group_size(" + std::to_string(g[0]) + ", " + std::to_string(g[1]) + ", " +
            std::to_string(g[2]) + ")";
    if (kernel_.min_groups_per_multiprocessor != 0)
      out_ += " resident(" + std::to_string(kernel_.min_groups_per_multiprocessor) + ")";
    out_ += " {\n";
    if (!kernel_.blocks.empty()) block(0, 1);
    return out_ + "}\n";
  }

  std::string line(InstId id) {
    out_.clear();
    if (id < kernel_.insts.size()) head(kernel_.insts[id]);
    return out_;
  }

 private:
  void number_value(Value v) {
    if (v.id < numbers_.size() && numbers_[v.id] < 0) numbers_[v.id] = next_++;
  }
  void number_block(BlockId id) {
    if (id >= visited_.size() || visited_[id]) return;
    visited_[id] = true;
    for (Value v : kernel_.blocks[id].params) number_value(v);
    for (InstId i : kernel_.blocks[id].insts) {
      if (i >= kernel_.insts.size()) continue;
      for (Value v : kernel_.insts[i].results) number_value(v);
      for (BlockId region : kernel_.insts[i].regions) number_block(region);
    }
  }

  std::string value(Value v) const {
    if (v.id >= numbers_.size()) return "%invalid";
    // Used, but defined nowhere: only in a kernel that the verifier refuses.
    if (numbers_[v.id] < 0) return "%undefined" + std::to_string(v.id);
    return "%" + std::to_string(numbers_[v.id]);
  }
  std::string value_type(Value v) const {
    return v.id < kernel_.types.size() ? to_string(kernel_.types[v.id]) : "invalid";
  }

  void list(std::span<const Value> values, const char* before) {
    const char* separator = before;
    for (Value v : values) {
      out_ += separator + value(v);
      separator = ", ";
    }
  }

  void immediates(const Inst& inst) {
    const Imm& imm = inst.imm;
    switch (inst.op) {
      case Op::Const:
        out_ += " " + (inst.results.empty() || inst.results[0].id >= kernel_.types.size()
                           ? hex(imm.bits)
                           : constant_text(kernel_.type(inst.results[0]).scalar, imm.bits));
        break;
      case Op::Param:
      case Op::GroupId:
      case Op::GroupCount:
      case Op::LocalId:
      case Op::Extract:
      case Op::Insert:
      case Op::SubgroupShuffleXor:
      case Op::SubgroupBallot:
      case Op::CopyWait:
      case Op::MatrixLoad:
      case Op::GroupMultiplyF16:
      case Op::GroupMultiplyBf16:
      case Op::GroupMultiplyWait:
        out_ += "[" + std::to_string(imm.index) + "]";
        break;
      case Op::CooperativeLoad:
        out_ += "[" + std::to_string(imm.index) + ", " + std::to_string(imm.count) + "]";
        break;
      case Op::CooperativeStore:
        out_ += "[" + std::to_string(imm.count) + "]";
        break;
      case Op::AtomicRmw:
        out_ += "[" + std::string(name(imm.rmw)) + "]";
        break;
      case Op::GroupAlloc:
      case Op::PrivateAlloc:
      case Op::Prefetch:
      case Op::PrefetchWrite:
      case Op::CopyAsync:
        out_ += "[" + std::string(name(imm.elem)) + " x " + std::to_string(imm.count) + "]";
        break;
      case Op::Shuffle: {
        const char* separator = "[";
        for (uint16_t lane : imm.lanes) {
          out_ += separator + std::to_string(lane);
          separator = ", ";
        }
        out_ += imm.lanes.empty() ? "[]" : "]";
        break;
      }
      default:
        break;
    }
  }

  // Everything of an instruction but its regions.
  void head(const Inst& inst) {
    list(inst.results, "");
    if (!inst.results.empty()) out_ += " = ";
    out_ += info(inst.op).text;
    immediates(inst);
    list(inst.operands, " ");
    const Group group = info(inst.op).group;
    if (group == Group::Memory || group == Group::Atomic) {
      out_ += " align " + std::to_string(inst.imm.align);
    }
    const char* separator = " : ";
    for (Value v : inst.results) {
      out_ += separator + value_type(v);
      separator = ", ";
    }
  }

  void regions(const Inst& inst, int depth) {
    for (size_t i = 0; i < inst.regions.size(); ++i) {
      const BlockId id = inst.regions[i];
      out_ += inst.op == Op::If      ? (i == 0 ? " then" : " else")
              : inst.op == Op::While ? (i == 0 ? " cond" : " do")
                                     : " do";
      if (id >= kernel_.blocks.size() || visited_[id]) {
        out_ += " {}  // no such block, or one printed before";
        continue;
      }
      const char* separator = " (";
      for (Value v : kernel_.blocks[id].params) {
        out_ += separator + value(v) + ": " + value_type(v);
        separator = ", ";
      }
      if (!kernel_.blocks[id].params.empty()) out_ += ")";
      out_ += " {\n";
      block(id, depth + 1);
      out_.append(static_cast<size_t>(depth) * 2, ' ');
      out_ += "}";
    }
  }

  void block(BlockId id, int depth) {
    visited_[id] = true;
    for (InstId i : kernel_.blocks[id].insts) {
      if (i >= kernel_.insts.size()) continue;
      out_.append(static_cast<size_t>(depth) * 2, ' ');
      head(kernel_.insts[i]);
      regions(kernel_.insts[i], depth);
      out_ += "\n";
    }
  }

  const Kernel& kernel_;
  const ParamNames names_;
  std::vector<int64_t> numbers_;  // by Value::id
  std::vector<bool> visited_;
  int64_t next_ = 0;
  std::string out_;
};

}  // namespace

std::string print(const Kernel& kernel, ParamNames names) {
  return Printer(kernel, names).kernel_text();
}

std::string print(const Kernel& kernel) {
  return Printer(kernel).kernel_text();
}
std::string print(const Kernel& kernel, InstId inst) {
  return Printer(kernel).line(inst);
}

}  // namespace primset::kir
