// Structured control flow of the builder: regions, if, for, while.
#include <utility>

#include "codegen/kernel/ir/builder.h"
#include "primset/error.h"

namespace primset::kir {
namespace {

[[noreturn]] void misuse(const std::string& what) {
  throw Error(ErrorCode::internal, "kernel builder: " + what);
}

}  // namespace

// Builds a block with parameters of the given types; its yield's operands go to *yielded.
BlockId Builder::region(std::span<const Type> params, const RegionFn& body, Values* yielded) {
  const auto id = static_cast<BlockId>(kernel_.blocks.size());
  kernel_.blocks.emplace_back();
  Values args;  // a copy: nested regions move kernel_.blocks
  for (Type t : params) args.push_back(new_value(t));
  kernel_.blocks[id].params = args;

  const BlockId outer = std::exchange(current_, id);
  scopes_.emplace_back();
  *yielded = body(args);
  append(Op::Yield, *yielded, {});
  scopes_.pop_back();
  current_ = outer;
  return id;
}

Builder::Values Builder::if_else(Value cond, const std::function<Values()>& then_body,
                                 const std::function<Values()>& else_body) {
  if (type(cond) != kI1) misuse("if wants an i1 scalar; got " + to_string(type(cond)));
  if (const auto known = known_bits(cond)) return *known != 0 ? then_body() : else_body();

  Values from_then, from_else;
  const BlockId then_block = region({}, [&](auto) { return then_body(); }, &from_then);
  const BlockId else_block = region({}, [&](auto) { return else_body(); }, &from_else);
  if (from_then.size() != from_else.size()) {
    misuse("the arms of if yield " + std::to_string(from_then.size()) + " and " +
           std::to_string(from_else.size()) + " values");
  }
  std::vector<Type> results;
  for (size_t i = 0; i < from_then.size(); ++i) {
    results.push_back(type(from_then[i]));
    if (type(from_else[i]) != results[i]) {
      misuse("the arms of if yield " + to_string(results[i]) + " and " +
             to_string(type(from_else[i])));
    }
  }
  return values_of(append(Op::If, {&cond, 1}, results, {}, {then_block, else_block}));
}

void Builder::if_then(Value cond, const std::function<void()>& body) {
  const auto nothing = [] { return Values{}; };
  if_else(
      cond,
      [&] {
        body();
        return Values{};
      },
      nothing);
}

Builder::Values Builder::for_loop(
    Value lo, Value hi, Value step, Values carried,
    const std::function<Values(Value iv, std::span<const Value> carried)>& body) {
  const Type t = type(lo);
  if ((t != kI32 && t != kI64) || type(hi) != t || type(step) != t) {
    misuse("for wants bounds and step of one type, i32 or i64; got " + to_string(t) + ", " +
           to_string(type(hi)) + ", " + to_string(type(step)));
  }
  const auto first = known_int(lo), last = known_int(hi), by = known_int(step);
  if (first && last && *first >= *last) return carried;
  // Unsigned, since last - first may exceed the signed range.
  if (first && last && by &&
      static_cast<uint64_t>(*by) >= static_cast<uint64_t>(*last) - static_cast<uint64_t>(*first)) {
    return body(lo, carried);
  }
  std::vector<Type> results, params{t};
  for (Value v : carried) results.push_back(type(v));
  params.insert(params.end(), results.begin(), results.end());
  Values yielded;
  const BlockId block =
      region(params, [&](auto args) { return body(args[0], args.subspan(1)); }, &yielded);
  if (yielded.size() != carried.size()) {
    misuse("the body of for yields " + std::to_string(yielded.size()) + " values and carries " +
           std::to_string(carried.size()));
  }
  for (size_t i = 0; i < yielded.size(); ++i) {
    if (type(yielded[i]) != results[i]) {
      misuse("the body of for yields " + to_string(type(yielded[i])) + " for a carried " +
             to_string(results[i]));
    }
  }
  Values operands{lo, hi, step};
  operands.insert(operands.end(), carried.begin(), carried.end());
  return values_of(append(Op::For, operands, results, {}, {block}));
}

Builder::Values Builder::while_loop(Values carried,
                                    const std::function<Value(std::span<const Value>)>& cond,
                                    const std::function<Values(std::span<const Value>)>& body) {
  std::vector<Type> types;
  for (Value v : carried) types.push_back(type(v));
  Values condition, yielded;
  const BlockId cond_block =
      region(types, [&](auto args) { return Values{cond(args)}; }, &condition);
  if (type(condition[0]) != kI1) {
    misuse("the condition of while wants an i1 scalar; got " + to_string(type(condition[0])));
  }
  const BlockId body_block = region(types, body, &yielded);
  if (yielded.size() != carried.size()) {
    misuse("the body of while yields " + std::to_string(yielded.size()) + " values and carries " +
           std::to_string(carried.size()));
  }
  for (size_t i = 0; i < yielded.size(); ++i) {
    if (type(yielded[i]) != types[i]) {
      misuse("the body of while yields " + to_string(type(yielded[i])) + " for a carried " +
             to_string(types[i]));
    }
  }
  return values_of(append(Op::While, carried, types, {}, {cond_block, body_block}));
}

}  // namespace primset::kir
