// A std::variant of many alternatives whose copies and destruction are compiled once.
//
// Each of these is a switch over all alternatives, and a std::variant spells it out in every file
// that holds one: in decomps that was a quarter of the time to build. To use it:
//
//   using Value = LargeVariant<std::variant<...>>;       // get, holds_alternative, visit: as ever
//   extern template class primset::LargeVariant<Value::Alternatives>;  // in its header
//   template class primset::LargeVariant<Value::Alternatives>;         // in one source file
#ifndef PRIMSET_PRIMS_GRAPH_LARGE_VARIANT_H_
#define PRIMSET_PRIMS_GRAPH_LARGE_VARIANT_H_

namespace primset {

template <typename Variant>
class LargeVariant : public Variant {
 public:
  using Alternatives = Variant;

  using Variant::Variant;
  using Variant::operator=;
  LargeVariant();
  LargeVariant(const LargeVariant&);
  LargeVariant(LargeVariant&&) noexcept;
  LargeVariant& operator=(const LargeVariant&);
  LargeVariant& operator=(LargeVariant&&) noexcept;
  ~LargeVariant();
};

template <typename Variant>
LargeVariant<Variant>::LargeVariant() = default;
template <typename Variant>
LargeVariant<Variant>::LargeVariant(const LargeVariant&) = default;
template <typename Variant>
LargeVariant<Variant>::LargeVariant(LargeVariant&&) noexcept = default;
template <typename Variant>
LargeVariant<Variant>& LargeVariant<Variant>::operator=(const LargeVariant&) = default;
template <typename Variant>
LargeVariant<Variant>& LargeVariant<Variant>::operator=(LargeVariant&&) noexcept = default;
template <typename Variant>
LargeVariant<Variant>::~LargeVariant() = default;

}  // namespace primset

#endif  // PRIMSET_PRIMS_GRAPH_LARGE_VARIANT_H_
