// The spec bundle: every operator and primitive as plain data. Specgen makes it from YAML; the rest
// of Primset only reads it.
//
//   const specs::Bundle& bundle = specs::embedded_bundle();   // specs/bundle/reader.h
//   const specs::Overload* add = bundle.find_overload("add.Tensor");
#ifndef PRIMSET_SPECS_BUNDLE_MODEL_H_
#define PRIMSET_SPECS_BUNDLE_MODEL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "specs/bundle/name_index.h"
#include "specs/bundle/operator.h"
#include "specs/bundle/primitive.h"

namespace primset::specs {

struct NamedDTypeSet {
  std::string name;
  DTypeSet dtypes;

  friend bool operator==(const NamedDTypeSet&, const NamedDTypeSet&) = default;
};

// A dtype as specs/dtypes.yaml states it; the codes are DType's, so that ATen's numbers hold.
struct DTypeEntry {
  std::string name;
  std::string torch_name;
  DType code = DType::u8;
  uint32_t bits = 0;
  char kind = 0;  // as DTypeInfo::kind

  friend bool operator==(const DTypeEntry&, const DTypeEntry&) = default;
};

// An entry of specs/tolerances.yaml, which operators and primitives refer to by name.
struct NamedTolerance {
  std::string name;
  std::vector<ToleranceRule> rules;

  friend bool operator==(const NamedTolerance&, const NamedTolerance&) = default;
};

// An entry of specs/host_functions.yaml, which operators refer to by name.
struct HostFunction {
  std::string name;
  std::string meaning;
  bool recordable = false;  // of an intrinsic: it only completes its arguments
  bool query = false;       // of an intrinsic: it looks at dtypes and geometry alone

  friend bool operator==(const HostFunction&, const HostFunction&) = default;
};

struct Bundle {
  std::string aten_version;        // the PyTorch release whose schemas these are
  uint64_t content_hash = 0;       // of the serialised bundle: equal hashes, equal specs
  std::vector<std::string> files;  // the YAML files read, as paths from specs/
  std::vector<DTypeEntry> dtypes;
  std::vector<NamedDTypeSet> dtype_sets;
  std::vector<NamedTolerance> tolerances;
  std::vector<HostFunction> intrinsics, sparse_functions, checks, written_checks;
  std::vector<Primitive> primitives;  // in the order of the files: the index is the primitive's id
  std::vector<Overload> overloads;    // by family, then as written; variants follow their base

  const Overload* find_overload(std::string_view qualified) const;
  const Primitive* find_primitive(std::string_view name) const;
  const NamedDTypeSet* find_dtype_set(std::string_view name) const;
  uint32_t index_of(const Overload& overload) const {
    return static_cast<uint32_t>(&overload - overloads.data());
  }
  uint32_t index_of(const Primitive& primitive) const {
    return static_cast<uint32_t>(&primitive - primitives.data());
  }
  // The overload that computes `overload`: follows base and alias links to the end.
  const Overload& computed_by(const Overload& overload) const;
  // What the promoted dtype may be, as stated by the overload or by the one that computes it.
  DTypeSet promoted_dtypes(const Overload& overload) const;
  // What `overload` takes: those, and integers and bool where they become the default float dtype.
  DTypeSet dtypes_of(const Overload& overload) const;

  // Rebuilds the name lookup; whoever changes the vectors calls it.
  void build_index();

 private:
  NameIndex overload_index_;
  NameIndex primitive_index_;
};

}  // namespace primset::specs

#endif  // PRIMSET_SPECS_BUNDLE_MODEL_H_
