#include "backends/cuda/testing/ptx_interpreter.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace fake_cuda {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& text) {
  throw std::runtime_error("PTX: " + what + ": " + text);
}

std::string trimmed(const std::string& s) {
  const size_t first = s.find_first_not_of(" \n\t"), last = s.find_last_not_of(" \n\t");
  return first == std::string::npos ? "" : s.substr(first, last - first + 1);
}

std::vector<std::string> split(const std::string& s, char by) {
  std::vector<std::string> parts;
  std::istringstream in(s);
  for (std::string part; std::getline(in, part, by);) parts.push_back(trimmed(part));
  return parts;
}

// A type's bits: 32 or 64.
int width(const std::string& type) {
  if (type.ends_with("16")) return 16;
  if (type.ends_with("32")) return 32;
  if (type.ends_with("64")) return 64;
  refuse("no type", type);
}
uint64_t narrowed(uint64_t x, const std::string& type) {
  return width(type) == 32 ? static_cast<uint32_t>(x) : x;
}

bool compares(const std::string& how, const std::string& type, uint64_t a, uint64_t b) {
  const auto test = [&](auto x, auto y) {
    if (how == "eq") return x == y;
    if (how == "ne") return x != y;
    if (how == "lt") return x < y;
    if (how == "le") return x <= y;
    if (how == "gt") return x > y;
    if (how == "ge") return x >= y;
    refuse("no comparison", how);
  };
  if (type == "s32") return test(static_cast<int32_t>(a), static_cast<int32_t>(b));
  if (type == "s64") return test(static_cast<int64_t>(a), static_cast<int64_t>(b));
  return test(narrowed(a, type), narrowed(b, type));
}

uint64_t computed(const std::string& op, const std::string& text, const uint64_t* x) {
  if (op == "mov" || op == "cvt") return x[0];
  if (op == "add") return x[0] + x[1];
  if (op == "sub") return x[0] - x[1];
  if (op == "mul") return x[0] * x[1];
  if (op == "mad") return x[0] * x[1] + x[2];
  if (op == "and") return x[0] & x[1];
  if (op == "or") return x[0] | x[1];
  if (op == "xor") return x[0] ^ x[1];
  if (op == "not") return ~x[0];
  if (op == "selp") return x[2] ? x[0] : x[1];
  if (op != "div" && op != "rem") refuse("no such instruction here", text);
  if (x[1] == 0) refuse("a division by zero", text);
  return op == "div" ? x[0] / x[1] : x[0] % x[1];
}

}  // namespace

struct PtxKernel::Thread {
  const std::string& params;
  const Allowed& allowed;
  uint64_t group, threads, thread;
  std::vector<uint64_t> registers;
  size_t next = 0;

  uint64_t value(const Operand& o) const {
    switch (o.place) {
      case Place::reg:
        return registers[o.value];
      case Place::group:
        return group;
      case Place::threads:
        return threads;
      case Place::thread:
        return thread;
      default:
        return o.value;
    }
  }
  char* memory(const Operand& o, size_t bytes, const std::string& text) const {
    const uint64_t at = value(o) + static_cast<uint64_t>(o.offset);
    if (at % bytes != 0 || !allowed(at, bytes)) refuse("no memory at " + std::to_string(at), text);
    return reinterpret_cast<char*>(at);
  }
};

PtxKernel::PtxKernel(const std::string& ptx, const std::string& name) {
  const size_t at = ptx.find(".entry " + name + "(");
  if (at == std::string::npos) refuse("no kernel", name);
  const size_t open = ptx.find('(', at), close = ptx.find(')', open), body = ptx.find('{', close);
  read_parameters(ptx.substr(open + 1, close - open - 1));
  read_body(ptx.substr(body + 1, ptx.find('}', body) - body - 1));
}

void PtxKernel::read_parameters(const std::string& text) {
  for (const std::string& p : split(text, ',')) {
    if (!p.starts_with(".param .u64 ")) refuse("a parameter that has not 64 bits", p);
    parameters_.emplace(p.substr(12), parameters_.size());
  }
}

void PtxKernel::read_body(const std::string& text) {
  std::map<size_t, std::string> branches;
  std::map<std::string, size_t> labels;
  for (const std::string& s : split(text, ';')) read_statement(s, branches, labels);
  for (const auto& [at, label] : branches) {
    if (!labels.contains(label)) refuse("no label", label);
    instructions_[at].target = labels[label];
  }
}

void PtxKernel::read_statement(std::string s, std::map<size_t, std::string>& branches,
                               std::map<std::string, size_t>& labels) {
  if (const size_t colon = s.find(':'); colon != std::string::npos) {
    labels[s.substr(0, colon)] = instructions_.size();
    s = trimmed(s.substr(colon + 1));
  }
  if (s.empty()) return;
  if (s.starts_with(".reg ")) {
    for (const std::string& name : split(s.substr(s.find(' ', 5)), ','))
      registers_.emplace(name, registers_.size());
    return;
  }
  Instruction i;
  if (s[0] == '@') {
    i.negated = s[1] == '!';
    const size_t from = i.negated ? 2 : 1, space = s.find(' ');
    i.predicate = static_cast<int>(registers_.at(s.substr(from, space - from)));
    s = s.substr(space + 1);
  }
  const size_t space = std::min(s.find(' '), s.size());
  i.text = s;
  i.parts = split(s.substr(0, space), '.');
  if (i.parts[0] == "bra")
    branches[instructions_.size()] = trimmed(s.substr(space));
  else
    for (const std::string& o : split(s.substr(space), ',')) i.operands.push_back(read_operand(o));
  instructions_.push_back(std::move(i));
}

PtxKernel::Operand PtxKernel::read_operand(std::string s) const {
  Operand o;
  if (s[0] == '[') {
    s = s.substr(1, s.size() - 2);
    if (const size_t plus = s.find('+'); plus != std::string::npos) {
      o.offset = std::stoll(s.substr(plus + 1));
      s = s.substr(0, plus);
    }
  }
  if (registers_.contains(s)) return {Place::reg, registers_.at(s), o.offset};
  if (parameters_.contains(s)) return {Place::param, parameters_.at(s), o.offset};
  if (s == "%ctaid.x") return {Place::group};
  if (s == "%ntid.x") return {Place::threads};
  if (s == "%tid.x") return {Place::thread};
  if (std::isdigit(static_cast<unsigned char>(s[0])) == 0) refuse("no such operand", s);
  return {Place::constant, std::stoull(s, nullptr, 0)};
}

// False when the thread has ended.
bool PtxKernel::step(Thread& t, const Instruction& i) const {
  ++t.next;
  if (i.predicate >= 0 && (t.registers[static_cast<size_t>(i.predicate)] != 0) == i.negated)
    return true;
  const std::string &op = i.parts[0], &type = i.parts.back();
  if (op == "ret") return false;
  if (op == "bra") {
    t.next = i.target;
    return true;
  }
  const size_t bytes = static_cast<size_t>(width(type)) / 8;
  if (op == "st") {
    const uint64_t value = t.value(i.operands.at(1));
    std::memcpy(t.memory(i.operands[0], bytes, i.text), &value, bytes);
    return true;
  }
  if (i.text.starts_with("red.global.or.b32")) {
    char* const to = t.memory(i.operands[0], 4, i.text);
    uint32_t value = 0;
    std::memcpy(&value, to, 4);
    value |= static_cast<uint32_t>(t.value(i.operands.at(1)));
    std::memcpy(to, &value, 4);
    return true;
  }
  uint64_t result = 0, x[3] = {};
  if (op == "ld") {
    const Operand& from = i.operands.at(1);
    const char* source = from.place == Place::param ? t.params.data() + 8 * from.value
                                                    : t.memory(from, bytes, i.text);
    std::memcpy(&result, source, bytes);
  } else {
    for (size_t k = 1; k < i.operands.size(); ++k) x[k - 1] = t.value(i.operands[k]);
    result = op == "setp" ? compares(i.parts.at(1), type, x[0], x[1])
             : i.text.starts_with("mul.wide.u32")
                 ? x[0] * x[1]
                 : narrowed(computed(op, i.text, x), op == "cvt" ? i.parts.at(1) : type);
  }
  t.registers[i.operands[0].value] = result;
  return true;
}

void PtxKernel::run(unsigned groups, unsigned threads, const std::string& params,
                    const Allowed& allowed) const {
  if (params.size() != 8 * parameters_.size()) refuse("another number of parameters", "");
  for (uint64_t group = 0; group < groups; ++group) {
    for (uint64_t thread = 0; thread < threads; ++thread) {
      Thread t{params,  allowed, group,
               threads, thread,  std::vector<uint64_t>(registers_.size(), 0xdeadbeefdeadbeef)};
      while (t.next < instructions_.size() && step(t, instructions_[t.next])) {
      }
    }
  }
}

}  // namespace fake_cuda
