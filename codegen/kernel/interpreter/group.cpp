#include "codegen/kernel/interpreter/group.h"

#include <algorithm>
#include <cstring>

#include "codegen/kernel/ir/text.h"
#include "primset/error.h"

namespace primset::kir::interp {
namespace {

std::string triple(std::array<uint32_t, 3> v) {
  return "(" + std::to_string(v[0]) + ", " + std::to_string(v[1]) + ", " + std::to_string(v[2]) +
         ")";
}

uint64_t element_bytes(Scalar s) {
  return static_cast<uint64_t>(bytes(s));
}

uint64_t read_element(const std::byte* p, Scalar s) {
  uint64_t v = 0;
  std::memcpy(&v, p, static_cast<size_t>(bytes(s)));
  return v;
}
void write_element(std::byte* p, Scalar s, uint64_t v) {
  std::memcpy(p, &v, static_cast<size_t>(bytes(s)));
}

}  // namespace

GroupRunner::GroupRunner(const Kernel& kernel, const Program& program, Memory& memory,
                         const InterpreterOptions& options)
    : kernel_(kernel), program_(program), memory_(memory), options_(options) {
  threads_.resize(kernel.group_size[0] * kernel.group_size[1] * kernel.group_size[2]);
}

void GroupRunner::run(std::array<uint32_t, 3> group) {
  group_ = group;
  group_number_ = (group[2] * options_.groups[1] + group[1]) * options_.groups[0] + group[0];
  epoch_ = 0;
  for (uint32_t i = 0; i < threads_.size(); ++i) {
    threads_[i].number = i;
    start(threads_[i]);
  }
  make_arrays();
  const auto count = static_cast<uint32_t>(threads_.size());
  do {
    for (uint32_t first = 0; first < count; first += options_.subgroup_size) {
      pass_exchanges(first, std::min(first + options_.subgroup_size, count));
    }
  } while (pass_group_matrices() || pass_barrier());
  memory_.release_arrays();
}

// --- starting a thread ---------------------------------------------------------------------------

std::array<uint32_t, 3> GroupRunner::local_id(uint32_t thread) const {
  auto [x, y, z] = kernel_.group_size;
  return {thread % x, thread / x % y, thread / (x * y)};
}

void GroupRunner::start(Thread& t) {
  t.pc = 0;
  t.state = State::running;
  t.started.clear();
  t.batches.clear();
  t.registers = program_.registers;
  for (const Leaf& leaf : program_.leaves) set_leaf(t, leaf);
}

void GroupRunner::set_leaf(Thread& t, const Leaf& leaf) {
  uint64_t* out = &t.registers[leaf.out];
  switch (leaf.op) {
    case Op::GroupId:
      out[0] = group_[leaf.dim];
      break;
    case Op::LocalId:
      out[0] = local_id(t.number)[leaf.dim];
      break;
    case Op::SubgroupLane:
      out[0] = t.number % options_.subgroup_size;
      break;
    default: {
      Pointer p = memory_.buffer(leaf.dim);
      out[0] = p.address;
      out[1] = p.region;
    }
  }
}

void GroupRunner::make_arrays() {
  auto put = [](Thread& t, uint32_t out, Pointer p) {
    t.registers[out] = p.address;
    t.registers[out + 1] = p.region;
  };
  auto name = [&](const char* kind, const Alloc& a) {
    return std::string(kind) + " array %" + std::to_string(kernel_.insts[a.inst].results[0].id);
  };
  for (const Alloc& a : program_.group_allocs) {
    Pointer p = memory_.add_array(a.bytes, true, name("group", a));
    for (Thread& t : threads_) put(t, a.out, p);
  }
  for (const Alloc& a : program_.private_allocs) {
    for (Thread& t : threads_) put(t, a.out, memory_.add_array(a.bytes, false, name("private", a)));
  }
}

void GroupRunner::fail(const Thread& t, const std::string& what) const {
  throw Error(ErrorCode::runtime, "kernel '" + kernel_.name + "', group " + triple(group_) +
                                      ", thread " + triple(local_id(t.number)) + ": " + what +
                                      ": " + print(kernel_, program_.code[t.pc].inst));
}

// --- running a thread ----------------------------------------------------------------------------

// Runs a thread until it ends or waits for others: at a barrier, or at an operation that the
// threads of a subgroup or of the group execute together.
void GroupRunner::run_thread(Thread& t) {
  uint64_t* r = t.registers.data();
  for (;;) {
    const Code& c = program_.code[t.pc];
    if (++steps_ > options_.max_steps) fail(t, "more steps than allowed; does this loop end?");
    switch (c.step) {
      case Step::jump:
        t.pc = c.target;
        continue;
      case Step::jump_if_zero:
        t.pc = r[c.in[0]] ? t.pc + 1 : c.target;
        continue;
      case Step::for_test: {
        const int w = width(c.type);
        if (sign_extend(r[c.in[2]], w) <= 0) fail(t, "the loop's step is not positive");
        bool more = sign_extend(r[c.in[0]], w) < sign_extend(r[c.in[1]], w);
        t.pc = more ? t.pc + 1 : c.target;
        continue;
      }
      case Step::for_next:
        next_iteration(t, c);
        t.pc = c.target;
        continue;
      case Step::barrier:
        t.state = State::at_barrier;
        return;
      case Step::exchange:
        t.state = State::at_exchange;
        return;
      case Step::matrix:
        t.state = State::at_matrix;
        return;
      case Step::group_matrix:
        t.state = State::at_group_matrix;
        return;
      case Step::end:
        t.state = State::finished;
        return;
      default:
        execute(t, c);
        ++t.pc;
    }
  }
}

void GroupRunner::execute(Thread& t, const Code& c) {
  uint64_t* r = t.registers.data();
  try {
    switch (c.step) {
      case Step::lanes:
        c.fn(r + c.out, r + c.in[0], r + c.in[1], r + c.in[2], c.lanes, c.imm);
        break;
      case Step::shuffle:
        for (uint32_t i = 0; i < c.lanes; ++i) {
          const uint32_t from = program_.lanes[c.imm + i];
          const bool second = from >= c.index_width;
          r[c.out + i] = r[c.in[second] + (second ? from - c.index_width : from)];
        }
        break;
      case Step::moves:
        copy(t, c);
        break;
      case Step::count:
        ++r[c.in[2]];
        break;
      case Step::pointer:
        pointer(t, c);
        break;
      case Step::memory:
        memory(t, c);
        break;
      case Step::copy:
        async_copy(t, c);
        break;
      default:
        atomic(t, c);
    }
  } catch (const LaneFault& fault) {
    fail(t, fault.what);
  } catch (const MemoryFault& fault) {
    fail(t, fault.what);
  }
}

// All sources are read before a destination is written: a loop may swap its carried values.
void GroupRunner::copy(Thread& t, const Code& c) {
  std::span moves(program_.moves.data() + c.imm, c.imm_count);
  scratch_.clear();
  for (const Move& m : moves) {
    auto from = t.registers.begin() + m.from;
    scratch_.insert(scratch_.end(), from, from + m.words);
  }
  auto from = scratch_.begin();
  for (const Move& m : moves) {
    std::copy_n(from, m.words, t.registers.begin() + m.to);
    from += m.words;
  }
}

void GroupRunner::next_iteration(Thread& t, const Code& c) {
  const int w = width(c.type);
  uint64_t& iv = t.registers[c.in[0]];
  const uint64_t next = (iv + t.registers[c.in[1]]) & low_mask(w);
  if (sign_extend(next, w) < sign_extend(iv, w)) fail(t, "the loop's counter overflows");
  iv = next;
  ++t.registers[c.in[2]];
}

// --- memory --------------------------------------------------------------------------------------

void GroupRunner::pointer(Thread& t, const Code& c) {
  uint64_t* r = t.registers.data();
  const uint64_t* a = r + c.in[0];
  uint64_t* out = r + c.out;
  switch (c.op) {
    case Op::PtrAdd:
      out[0] = a[0] + r[c.in[1]];
      out[1] = a[1];
      break;
    case Op::IntToPtr: {
      Pointer p = memory_.find(a[0]);
      out[0] = p.address;
      out[1] = p.region;
      break;
    }
    case Op::PtrToInt:
      out[0] = c.type == Scalar::i64 ? a[0] : static_cast<uint32_t>(a[0]);
      break;
    default: {  // Select
      const uint64_t* chosen = r + c.in[a[0] ? 1 : 2];
      out[0] = chosen[0];
      out[1] = chosen[1];
    }
  }
}

int64_t GroupRunner::index_of(const Thread& t, const Code& c, uint32_t lane) const {
  return sign_extend(t.registers[c.in[1] + lane], c.index_width);
}

std::byte* GroupRunner::touch(Thread& t, const Code& c, int64_t index, Access kind) {
  Pointer p{t.registers[c.in[0]], t.registers[c.in[0] + 1]};
  const int size = bytes(c.type);
  const uint32_t align = std::min(c.imm, static_cast<uint32_t>(size));
  try {
    return memory_.access(p, static_cast<uint64_t>(index) * element_bytes(c.type),
                          static_cast<uint32_t>(size), std::max(align, 1u), kind,
                          {group_number_, t.number, epoch_});
  } catch (MemoryFault& fault) {
    fault.what += " (index " + std::to_string(index) + ")";
    throw;
  }
}

void GroupRunner::memory(Thread& t, const Code& c) {
  if (c.op == Op::Gather || c.op == Op::Scatter) return gather_scatter(t, c);
  contiguous(t, c);
}

// Load, Store and their masked forms.
void GroupRunner::contiguous(Thread& t, const Code& c) {
  uint64_t* r = t.registers.data();
  const bool masked = c.op == Op::MaskedLoad || c.op == Op::MaskedStore;
  const bool stores = c.op == Op::Store || c.op == Op::MaskedStore;
  const uint64_t* mask = !masked ? nullptr : r + c.in[stores ? 3 : 2];
  const int64_t index = index_of(t, c, 0);
  const uint64_t first = r[c.in[0]] + static_cast<uint64_t>(index) * element_bytes(c.type);
  bool touched = false;
  for (uint32_t i = 0; i < c.lanes; ++i) {
    if (mask && !mask[i]) {
      if (!stores) r[c.out + i] = r[c.in[3] + i];
      continue;
    }
    touched = true;
    std::byte* p = touch(t, c, index + i, stores ? Access::write : Access::read);
    if (stores) {
      write_element(p, c.type, r[c.in[2] + i]);
    } else {
      r[c.out + i] = read_element(p, c.type);
    }
  }
  // A vector may promise more than its elements' alignment: that is of its first byte.
  if (touched && c.imm && first % c.imm != 0) {
    throw MemoryFault{"misaligned: address " + std::to_string(first) + " (index " +
                      std::to_string(index) + ") is not a multiple of " + std::to_string(c.imm) +
                      " as promised"};
  }
}

void GroupRunner::gather_scatter(Thread& t, const Code& c) {
  uint64_t* r = t.registers.data();
  const bool stores = c.op == Op::Scatter;
  const uint64_t* mask = r + c.in[stores ? 3 : 2];
  for (uint32_t i = 0; i < c.lanes; ++i) {
    if (!mask[i]) {
      if (!stores) r[c.out + i] = r[c.in[3] + i];
    } else if (stores) {
      write_element(touch(t, c, index_of(t, c, i), Access::write), c.type, r[c.in[2] + i]);
    } else {
      r[c.out + i] = read_element(touch(t, c, index_of(t, c, i), Access::read), c.type);
    }
  }
}

void GroupRunner::atomic(Thread& t, const Code& c) {
  uint64_t* r = t.registers.data();
  std::byte* p = touch(t, c, index_of(t, c, 0), Access::atomic);
  const uint64_t old = read_element(p, c.type), value = r[c.in[2]];
  if (c.op == Op::AtomicRmw) {
    write_element(p, c.type, apply_rmw(c.rmw, c.type, old, value));
  } else if (old == value) {
    write_element(p, c.type, r[c.in[3]]);
  }
  r[c.out] = old;
}

// --- meeting points ------------------------------------------------------------------------------

// At the same instruction, in the same iteration of every loop around it.
bool GroupRunner::same_place(const Thread& a, const Thread& b) const {
  if (a.pc != b.pc || a.state != b.state) return false;
  const auto& loops = program_.loop_sets[program_.code[a.pc].loops];
  return std::all_of(loops.begin(), loops.end(),
                     [&](uint32_t at) { return a.registers[at] == b.registers[at]; });
}

// Runs the threads of one subgroup until each waits at a barrier or has finished.
void GroupRunner::pass_exchanges(uint32_t first, uint32_t last) {
  do {
    for (uint32_t i = first; i < last; ++i) {
      if (threads_[i].state == State::running) run_thread(threads_[i]);
    }
  } while (exchange_values(first, last) || pass_matrices(first, last));
}

// What a waiting lane of subgroup [first, last) receives; nullopt when it wants something of a lane
// that is elsewhere: hardware leaves that undefined.
std::optional<std::vector<uint64_t>> GroupRunner::received(const Thread& t, uint32_t first,
                                                           uint32_t last) const {
  const Code& c = program_.code[t.pc];
  if (c.op == Op::SubgroupBallot) {
    uint64_t word = 0;
    for (uint32_t i = first; i < last; ++i) {
      if (!same_place(t, threads_[i])) return std::nullopt;
      const uint32_t lane = i - first;
      if (lane / 32 == c.imm) word |= (threads_[i].registers[c.in[0]] & 1) << lane % 32;
    }
    return {{word}};
  }
  const uint64_t lane =
      c.op == Op::SubgroupShuffle ? t.registers[c.in[1]] : (t.number - first) ^ c.imm;
  if (lane >= last - first || !same_place(t, threads_[first + lane])) return std::nullopt;
  auto from = threads_[first + lane].registers.begin() + c.in[0];
  return std::vector<uint64_t>(from, from + c.lanes);
}

// Hands values between the lanes that wait for each other; false when none waits.
bool GroupRunner::exchange_values(uint32_t first, uint32_t last) {
  std::vector<std::pair<uint32_t, std::vector<uint64_t>>> received_by;
  const Thread* stuck = nullptr;
  for (uint32_t i = first; i < last; ++i) {
    const Thread& t = threads_[i];
    if (t.state != State::at_exchange) continue;
    if (auto values = received(t, first, last)) {
      received_by.emplace_back(i, std::move(*values));
    } else {
      stuck = &t;
    }
  }
  if (stuck) fail(*stuck, "reads a subgroup lane that does not run this instruction");
  for (const auto& [i, values] : received_by) {
    Thread& t = threads_[i];
    std::ranges::copy(values, t.registers.begin() + program_.code[t.pc].out);
    ++t.pc;
    t.state = State::running;
  }
  return !received_by.empty();
}

// Lets the group past the barrier at which all of it waits; false when all have finished.
bool GroupRunner::pass_barrier() {
  const Thread& lead = threads_[0];
  for (const Thread& t : threads_) {
    const bool together =
        lead.state == State::finished ? t.state == State::finished : same_place(lead, t);
    if (together) continue;
    const bool lead_waits = lead.state == State::at_barrier;
    const Thread &waits = lead_waits ? lead : t, &other = lead_waits ? t : lead;
    fail(waits,
         "divergent barrier: thread " + triple(local_id(other.number)) +
             (other.state == State::finished ? " finished without it"
                                             : " waits at another, or in another iteration"));
  }
  if (lead.state == State::finished) return false;
  ++epoch_;
  for (Thread& t : threads_) {
    ++t.pc;
    t.state = State::running;
  }
  return true;
}

}  // namespace primset::kir::interp
