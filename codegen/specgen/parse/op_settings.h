// The keys of an operator's entry that say more than its schema. They stand beside `overloads` for
// all of them, or inside one overload for it alone; there they win.
#ifndef PRIMSET_CODEGEN_SPECGEN_PARSE_OP_SETTINGS_H_
#define PRIMSET_CODEGEN_SPECGEN_PARSE_OP_SETTINGS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/fields.h"
#include "codegen/specgen/read/yaml.h"
#include "specs/bundle/model.h"

namespace primset::specs {

struct OpSettings {
  const YamlNode* variants = nullptr;
  const YamlNode* promote = nullptr;
  const YamlNode* broadcast = nullptr;
  const YamlNode* one_dtype = nullptr;
  const YamlNode* runtime = nullptr;
  const YamlNode* structural = nullptr;
  const YamlNode* scalar = nullptr;
  const YamlNode* decompose = nullptr;
  const YamlNode* intrinsic = nullptr;
  const YamlNode* sparse = nullptr;
  const YamlNode* checks = nullptr;
  const YamlNode* written_checks = nullptr;
  const YamlNode* dtypes = nullptr;
  const YamlNode* strides = nullptr;
  const YamlNode* outs = nullptr;
  const YamlNode* unchanged = nullptr;
  const YamlNode* contents = nullptr;
  const YamlNode* reads = nullptr;
  const YamlNode* random = nullptr;
  const YamlNode* cases = nullptr;
  const YamlNode* tolerance = nullptr;
  const YamlNode* status = nullptr;
  const YamlNode* tags = nullptr;
  const YamlNode* callable = nullptr;
  const YamlNode* internal = nullptr;
  const YamlNode* base = nullptr;

  // Takes the keys that are there; a key already set stays as it is unless `fields` has it too.
  void read(Fields& fields);
};

// Applies settings to overloads, and reports argument names that fit none of them.
class SettingsApplier {
 public:
  SettingsApplier(const Bundle& bundle, Diagnostics& diagnostics)
      : bundle_(bundle), diagnostics_(diagnostics) {}

  void apply(const OpSettings& settings, Overload& overload);
  // What `intrinsic` says of an overload: of one that is written out, or of a variant.
  void apply_intrinsic(const OpSettings& settings, bool is_variant, Overload& overload);
  // Reports the argument names and the kinds of overloads that no overload had.
  void finish();

 private:
  void apply_promote(const YamlNode& node, Overload& o);
  void apply_into(const YamlNode& node, Overload& o);
  void apply_roles(const YamlNode& node, Role role, Overload& o);
  void apply_rounding(const YamlNode& node, Overload& o);
  void apply_strides(const YamlNode& node, StrideRule& rule);
  void apply_outs(const YamlNode& node, Overload& o);
  void apply_random(const YamlNode& node, Overload& o);
  void apply_cases(const YamlNode& node, Overload& o);
  void apply_callable(const YamlNode& node, Overload& o);
  // True of a key that is there, which has one value.
  bool is_set(const YamlNode* node, const char* key, const char* value);
  std::vector<uint32_t> arguments(const YamlNode& node, const Overload& o);
  // The argument's index or -1; remembers whether the name written at `place` was ever found.
  int find_argument(const std::string& name, Position place, const Overload& o);

  const Bundle& bundle_;
  Diagnostics& diagnostics_;
  struct Missing {
    std::string name;
    Position place;
    std::vector<std::string> arguments;
  };
  std::set<Position> found_;
  // The kinds that an `intrinsic` names, by where they stand.
  std::map<Position, std::string> kinds_;
  std::vector<Missing> missing_;
};

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_PARSE_OP_SETTINGS_H_
