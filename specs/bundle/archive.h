// The serialised form of a bundle, stated once: `fields` lists the members of each struct in order,
// and both the writer and the reader walk that list, so they cannot disagree.
//
// file    := magic[8] version:u32 payload_size:u64 payload_hash:u64 payload   (little-endian)
// payload := string table, then the fields of Bundle
//
// Integers are LEB128 varints (signed ones zigzag), doubles 8 bytes, strings indices into the
// table, vectors a count and their elements.
#ifndef PRIMSET_SPECS_BUNDLE_ARCHIVE_H_
#define PRIMSET_SPECS_BUNDLE_ARCHIVE_H_

#include <cstdint>
#include <string_view>

#include "specs/bundle/model.h"

namespace primset::specs::archive {

inline constexpr std::string_view kMagic = {"PSPEC\r\n\x1a", 8};
inline constexpr uint32_t kVersion = 12;
inline constexpr size_t kHeaderSize = 8 + 4 + 8 + 8;

// The number of enumerators: a byte at or above it is corrupt. Traits say it by their names.
template <typename Enum>
inline constexpr int kEnumCount = static_cast<int>(TraitNames<Enum>::values.size());
template <>
inline constexpr int kEnumCount<NodeKind> = static_cast<int>(NodeKind::list) + 1;
template <>
inline constexpr int kEnumCount<FormulaOp> = static_cast<int>(FormulaOp::shift_right) + 1;
template <>
inline constexpr int kEnumCount<Callee> = static_cast<int>(Callee::rounded_op) + 1;
template <>
inline constexpr int kEnumCount<ArgKind> = static_cast<int>(ArgKind::storage) + 1;
template <>
inline constexpr int kEnumCount<DefaultKind> = static_cast<int>(DefaultKind::enumeration) + 1;
template <>
inline constexpr int kEnumCount<Role> = static_cast<int>(Role::runtime) + 1;
template <>
inline constexpr int kEnumCount<ScalarRounding> = static_cast<int>(ScalarRounding::tensor) + 1;
template <>
inline constexpr int kEnumCount<ToleranceKind> = static_cast<int>(ToleranceKind::accumulate) + 1;
template <>
inline constexpr int kEnumCount<OverloadKind> = static_cast<int>(OverloadKind::mutable_op) + 1;
template <>
inline constexpr int kEnumCount<Status> = static_cast<int>(Status::implemented) + 1;
template <>
inline constexpr int kEnumCount<PromoteKind> = static_cast<int>(PromoteKind::bool_to_int) + 1;
template <>
inline constexpr int kEnumCount<SharedMemory> = static_cast<int>(SharedMemory::refused) + 1;
template <>
inline constexpr int kEnumCount<OutDType> = static_cast<int>(OutDType::floating) + 1;
template <>
inline constexpr int kEnumCount<StrideKind> = static_cast<int>(StrideKind::function) + 1;
template <>
inline constexpr int kEnumCount<ImplKind> = static_cast<int>(ImplKind::alias) + 1;
template <>
inline constexpr int kEnumCount<AttributeType> = static_cast<int>(AttributeType::boolean) + 1;

template <>
inline constexpr int kEnumCount<DType> = kDTypeCodes;

template <typename A>
void fields(A& a, FormulaNode& n) {
  a(n.kind, n.op, n.callee, n.member, n.line, n.column, n.first_child, n.child_count, n.target,
    n.integer, n.floating, n.text);
}
template <typename A>
void fields(A& a, FormulaAssignment& x) {
  a(x.names, x.node, x.line, x.column);
}
template <typename A>
void fields(A& a, FormulaResult& x) {
  a(x.name, x.node);
}
template <typename A>
void fields(A& a, Formula& f) {
  a(f.nodes, f.child_index, f.assignments, f.results, f.text);
}
template <typename A>
void fields(A& a, DefaultValue& v) {
  a(v.kind, v.integer, v.floating, v.list, v.text, v.spelling);
}
template <typename A>
void fields(A& a, AliasInfo& x) {
  a(x.letter, x.writes, x.wildcard);
}
template <typename A>
void fields(A& a, Argument& x) {
  a(x.name, x.kind, x.optional, x.keyword_only, x.is_out, x.fixed_size, x.role, x.rounding, x.alias,
    x.default_value);
}
template <typename A>
void fields(A& a, Return& x) {
  a(x.name, x.kind, x.alias);
}
template <typename A>
void fields(A& a, Tolerance& x) {
  a(x.kind, x.number);
}
template <typename A>
void fields(A& a, ToleranceRule& x) {
  a(x.dtypes, x.tolerance);
}
template <typename A>
void fields(A& a, Promotion& x) {
  a(x.kind, x.args, x.into);
}
template <typename A>
void fields(A& a, StrideRule& x) {
  a(x.kind, x.function);
}
template <typename A>
void fields(A& a, Implementation& x) {
  a(x.kind, x.function, x.target, x.formula);
}
template <typename A>
void fields(A& a, RandomUse& x) {
  a(x.seeded, x.counters_per_element, x.order_nondeterministic);
}
template <typename A>
void fields(A& a, std::pair<std::string, std::string>& x) {
  a(x.first, x.second);
}
template <typename A>
void fields(A& a, CaseSpec& x) {
  a(x.generator, x.parameters);
}
template <typename A>
void fields(A& a, Overload& o) {
  a(o.op, o.overload, o.qualified, o.family, o.schema, o.kind, o.status, o.status_reason, o.base,
    o.derived, o.method, o.function, o.args, o.returns, o.promote, o.broadcast, o.one_dtype,
    o.dtypes, o.strides, o.outs.strides, o.outs.dtype, o.outs.shared, o.unchanged_is_itself,
    o.undefined_contents, o.reads_offset, o.random, o.implementation, o.intrinsic, o.sparse,
    o.internal, o.checks, o.written_checks, o.cases, o.tolerance, o.tags, o.file, o.line, o.column);
}
template <typename A>
void fields(A& a, Operand& x) {
  a(x.name, x.variadic, x.optional, x.dtypes);
}
template <typename A>
void fields(A& a, Attribute& x) {
  a(x.name, x.type, x.default_value);
}
template <typename A>
void fields(A& a, PrimResult& x) {
  a(x.name, x.variadic, x.dtype);
}
template <typename A>
void fields(A& a, EdgeRule& x) {
  a(x.label, x.text);
}
template <typename A>
void fields(A& a, PrimTraits& t) {
  each_stated_trait(t, [&](std::string_view, auto& member) { a(member); });
  each_derived_trait(t, [&](std::string_view, auto& member) { a(member); });
}
template <typename A>
void fields(A& a, Primitive& p) {
  a(p.name, p.category, p.tier, p.operands, p.attributes, p.results, p.regions, p.meaning, p.edges,
    p.tolerance, p.compute, p.donates, p.discontinuous, p.traits, p.siblings, p.decomposition,
    p.file, p.line, p.column);
}
template <typename A>
void fields(A& a, NamedDTypeSet& x) {
  a(x.name, x.dtypes);
}
template <typename A>
void fields(A& a, DTypeEntry& x) {
  a(x.name, x.torch_name, x.code, x.bits, x.kind);
}
template <typename A>
void fields(A& a, NamedTolerance& x) {
  a(x.name, x.rules);
}
template <typename A>
void fields(A& a, HostFunction& x) {
  a(x.name, x.meaning, x.recordable, x.query);
}
// content_hash is not among them: it is the hash of the payload.
template <typename A>
void fields(A& a, Bundle& b) {
  a(b.aten_version, b.files, b.dtypes, b.dtype_sets, b.tolerances, b.intrinsics, b.sparse_functions,
    b.checks, b.written_checks, b.primitives, b.overloads);
}

}  // namespace primset::specs::archive

#endif  // PRIMSET_SPECS_BUNDLE_ARCHIVE_H_
