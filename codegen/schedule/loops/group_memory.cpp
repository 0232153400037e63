#include "codegen/schedule/loops/group_memory.h"

namespace primset::schedule {

using kir::Value;

namespace {

uint32_t alignment(kir::Type t) {
  return static_cast<uint32_t>(kir::bytes(t.scalar));
}

}  // namespace

GroupMemory::GroupMemory(kir::Builder& b, std::span<const Value> like, uint32_t slots) : b_(b) {
  for (Value v : like) {
    kir::Type type = b.type(v);
    const bool truth = type.scalar == kir::Scalar::i1;
    if (truth) type.scalar = kir::Scalar::i32;
    arrays_.push_back({b.group_alloc(type.scalar, slots), type, truth});
  }
}

void GroupMemory::put(Value slot, std::span<const Value> values) {
  for (size_t k = 0; k < arrays_.size(); ++k) {
    const Array& a = arrays_[k];
    const Value v = a.truth ? b_.zext(values[k], kir::Scalar::i32) : values[k];
    b_.store(a.memory, slot, v, alignment(a.type));
  }
}

std::vector<Value> GroupMemory::get(Value slot) {
  std::vector<Value> out;
  for (const Array& a : arrays_) {
    const Value v = b_.load(a.type, a.memory, slot, alignment(a.type));
    out.push_back(a.truth ? b_.trunc(v, kir::Scalar::i1) : v);
  }
  return out;
}

}  // namespace primset::schedule
