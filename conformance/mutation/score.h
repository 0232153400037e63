// Mutation score: what share of mutants do the cases tell from the original? Only the device's side
// gets the mutant; the reference keeps the original.
#ifndef PRIMSET_CONFORMANCE_MUTATION_SCORE_H_
#define PRIMSET_CONFORMANCE_MUTATION_SCORE_H_

#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "conformance/cases/tables/recipe.h"
#include "conformance/mutation/mutants.h"
#include "conformance/runner/device_runner.h"
#include "specs/bundle/model.h"

namespace primset::conformance {

struct Mutant {
  std::string subject;  // "add.Tensor", "prim/pad"
  DType dtype = DType::f32;
  Mutation mutation;
  bool caught = false;
  std::string by;  // the first case that noticed it, or what it looks like
  friend auto operator<=>(const Mutant& a, const Mutant& b) {
    return std::tie(a.subject, a.dtype, a.mutation) <=> std::tie(b.subject, b.dtype, b.mutation);
  }
  friend bool operator==(const Mutant& a, const Mutant& b) { return (a <=> b) == 0; }
};

struct MutationScore {
  std::vector<Mutant> mutants;
  size_t subjects = 0;
  size_t caught() const;
  double share() const;
};

// Picks `count` mutants of the subjects that the selection has, of each family about as many, the
// same for one seed; runs the cases of each until one notices it. `progress` is called after each.
MutationScore measure_mutations(const specs::Bundle& bundle, DeviceRunner& device,
                                const Selection& selection, size_t count, uint64_t seed,
                                const std::function<void(const Mutant&)>& progress = {});

std::string name(const Mutant& mutant);          // "add.Tensor f32 replace add#0.0"
std::string to_json_line(const Mutant& mutant);  // without the newline
// By kind and by family, with the survivors by name.
std::string score_text(const MutationScore& score,
                       const std::function<std::string(std::string_view)>& family_of);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_MUTATION_SCORE_H_
