#include "codegen/specgen/parse/op_settings.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "codegen/specgen/parse/host_functions.h"
#include "codegen/specgen/parse/implementation_reader.h"
#include "codegen/specgen/parse/schema_parser.h"
#include "codegen/specgen/parse/vocabulary.h"

namespace primset::specs {
namespace {

constexpr std::array<std::pair<std::string_view, PromoteKind>, 6> kPromoteKinds = {{
    {"default", PromoteKind::standard},
    {"int_to_float", PromoteKind::int_to_float},
    {"complex_to_float", PromoteKind::complex_to_float},
    {"always_bool", PromoteKind::always_bool},
    {"bool_to_int", PromoteKind::bool_to_int},
    {"none", PromoteKind::none},
}};

std::string_view kind_name(OverloadKind kind) {
  switch (kind) {
    case OverloadKind::functional:
      return "functional";
    case OverloadKind::inplace:
      return "inplace";
    case OverloadKind::out:
      return "out";
    case OverloadKind::mutable_op:
      return "mutable";
  }
  return "";
}

CaseSpec read_case(const YamlNode& node, Diagnostics& diagnostics) {
  CaseSpec spec;
  if (node.is_scalar()) {
    spec.generator = node.text;
    return spec;
  }
  if (!node.is_mapping()) {
    report_kind(node, "a generator's name, a mapping with the key 'generator', or cases by name",
                diagnostics);
    return spec;
  }
  // Without a generator they are written out: a name and the arguments each.
  if (node.find("generator") == nullptr) spec.generator = specs::kWrittenCases;
  for (const YamlNode::Entry& entry : node.entries) {
    if (!entry.value.is_scalar()) report_kind(entry.value, "text", diagnostics);
    if (entry.key == "generator") {
      spec.generator = entry.value.text;
    } else if (spec.generator == specs::kWrittenCases && !entry.value.text.empty() &&
               entry.value.text.find('=') == std::string::npos) {
      diagnostics.error(entry.value.position, fmt::format("unexpected '{}'", entry.value.text),
                        "the arguments of a case, as self=T[2,3] dim=1");
    } else {
      spec.parameters.emplace_back(entry.key, entry.value.text);
    }
  }
  return spec;
}

}  // namespace

void OpSettings::read(Fields& fields) {
  const std::pair<const char*, const YamlNode**> keys[] = {
      {"variants", &variants},   {"promote", &promote},     {"broadcast", &broadcast},
      {"one_dtype", &one_dtype}, {"runtime", &runtime},     {"structural", &structural},
      {"scalar", &scalar},       {"decompose", &decompose}, {"intrinsic", &intrinsic},
      {"sparse", &sparse},       {"checks", &checks},       {"written_checks", &written_checks},
      {"dtypes", &dtypes},       {"strides", &strides},     {"outs", &outs},
      {"unchanged", &unchanged}, {"contents", &contents},   {"reads", &reads},
      {"random", &random},       {"cases", &cases},         {"tolerance", &tolerance},
      {"status", &status},       {"tags", &tags},           {"callable", &callable},
      {"internal", &internal},   {"base", &base},
  };
  for (const auto& [key, target] : keys) {
    if (const YamlNode* found = fields.find(key)) *target = found;
  }
}

void SettingsApplier::apply(const OpSettings& s, Overload& o) {
  if (s.promote != nullptr) apply_promote(*s.promote, o);
  if (s.broadcast != nullptr) o.broadcast = arguments(*s.broadcast, o);
  std::erase_if(o.broadcast, [&](uint32_t i) { return !is_tensor_kind(o.args[i].kind); });
  if (s.one_dtype != nullptr) o.one_dtype = arguments(*s.one_dtype, o);
  if (s.runtime != nullptr) apply_roles(*s.runtime, Role::runtime, o);
  if (s.structural != nullptr) apply_roles(*s.structural, Role::structural, o);
  if (s.scalar != nullptr) apply_rounding(*s.scalar, o);
  apply_intrinsic(s, false, o);
  if (s.sparse != nullptr) {
    o.sparse =
        parse_host_function(*s.sparse, "sparse function", bundle_.sparse_functions, diagnostics_);
  }
  o.internal = is_set(s.internal, "internal", "true");
  if (s.checks != nullptr) {
    o.checks = parse_host_functions(*s.checks, "check", bundle_.checks, diagnostics_);
  }
  if (s.written_checks != nullptr) {
    o.written_checks = parse_host_functions(*s.written_checks, "check of what is written",
                                            bundle_.written_checks, diagnostics_);
  }
  if (s.dtypes != nullptr) o.dtypes = parse_dtype_set(*s.dtypes, bundle_, diagnostics_);
  if (s.tags != nullptr) {
    for (const YamlNode* tag : parse_names(*s.tags, diagnostics_)) o.tags.push_back(tag->text);
  }
  o.strides.kind = o.broadcast.empty() ? StrideKind::contiguous : StrideKind::elementwise;
  if (s.strides != nullptr) apply_strides(*s.strides, o.strides);
  o.outs.strides = o.strides;
  if (s.outs != nullptr) apply_outs(*s.outs, o);
  o.unchanged_is_itself = is_set(s.unchanged, "unchanged", "itself");
  o.undefined_contents = is_set(s.contents, "contents", "undefined");
  o.reads_offset = is_set(s.reads, "reads", "offset");
  o.random.seeded = o.has_tag("nondeterministic_seeded");
  if (s.random != nullptr) apply_random(*s.random, o);
  if (s.cases != nullptr) apply_cases(*s.cases, o);
  if (s.tolerance != nullptr) o.tolerance = parse_tolerance(*s.tolerance, bundle_, diagnostics_);
  if (s.callable != nullptr) apply_callable(*s.callable, o);
  if (s.decompose != nullptr) {
    o.implementation = read_implementation(*s.decompose, DecomposeFor::op, diagnostics_);
    o.status = Status::implemented;
  }
  if (!o.intrinsic.empty() || !o.sparse.empty()) o.status = Status::implemented;
  if (s.status != nullptr) {
    if (!s.status->is_scalar()) report_kind(*s.status, "the reason, in words", diagnostics_);
    if (s.decompose != nullptr) {
      diagnostics_.error(
          s.status->position, "a status beside a decomposition",
          "one of them: an entry without 'decompose' is declared, and 'status' says why");
    }
    o.status_reason = s.status->text;
  }
}

bool SettingsApplier::is_set(const YamlNode* node, const char* key, const char* value) {
  if (node != nullptr && node->text != value) {
    diagnostics_.error(node->position, fmt::format("unknown {} '{}'", key, node->text),
                       fmt::format("{}, or the key left out", value));
  }
  return node != nullptr;
}

int SettingsApplier::find_argument(const std::string& name, Position place, const Overload& o) {
  const int index = o.find_arg(name);
  if (index >= 0) {
    found_.insert(place);
  } else {
    std::vector<std::string> names;
    for (const Argument& a : o.args) names.push_back(a.name);
    missing_.push_back({name, place, std::move(names)});
  }
  return index;
}

// A name is of the overload that the entry writes out; {inplace: f, out: g} of those of a kind.
void SettingsApplier::apply_intrinsic(const OpSettings& settings, bool is_variant, Overload& o) {
  const YamlNode* node = settings.intrinsic;
  if (node == nullptr || (is_variant && !node->is_mapping())) return;
  if (node->is_mapping()) {
    for (const YamlNode::Entry& entry : node->entries) kinds_[entry.key_position] = entry.key;
    const YamlNode::Entry* entry = node->find(kind_name(o.kind));
    if (entry == nullptr) return;
    found_.insert(entry->key_position);
    node = &entry->value;
  }
  o.intrinsic = parse_host_function(*node, "intrinsic", bundle_.intrinsics, diagnostics_);
}

void SettingsApplier::finish() {
  for (const auto& [place, kind] : kinds_) {
    if (found_.contains(place)) continue;
    diagnostics_.error(place, fmt::format("no overload of the entry is '{}'", kind),
                       "functional, inplace, out or mutable, as one of its overloads is");
  }
  for (const Missing& m : missing_) {
    if (found_.contains(m.place)) continue;
    const std::vector<std::string_view> views(m.arguments.begin(), m.arguments.end());
    diagnostics_.error(m.place,
                       fmt::format("unknown argument {}", quote_with_suggestion(m.name, views)),
                       views.empty() ? "" : one_of(views));
  }
}

std::vector<uint32_t> SettingsApplier::arguments(const YamlNode& node, const Overload& o) {
  std::vector<uint32_t> indices;
  for (const YamlNode* name : parse_names(node, diagnostics_)) {
    const int index = find_argument(name->text, name->position, o);
    if (index >= 0) indices.push_back(static_cast<uint32_t>(index));
  }
  return indices;
}

void SettingsApplier::apply_promote(const YamlNode& node, Overload& o) {
  Fields fields(node, "a promotion", diagnostics_);
  std::vector<std::string_view> names;
  bool known = false;
  const YamlNode* kind = fields.require("kind");
  for (const auto& [name, value] : kPromoteKinds) {
    names.push_back(name);
    if (kind == nullptr || kind->text != name) continue;
    o.promote.kind = value;
    known = true;
  }
  if (kind != nullptr && !known) {
    diagnostics_.error(
        kind->position,
        fmt::format("unknown promotion {}", quote_with_suggestion(kind->text, names)),
        one_of(names));
  }
  if (const YamlNode* args = fields.require("args")) o.promote.args = arguments(*args, o);
  if (const YamlNode* into = fields.find("into")) apply_into(*into, o);
  fields.finish();
  for (uint32_t i : o.promote.args) {
    const Argument& a = o.args[i];
    const bool fits =
        is_tensor_kind(a.kind) || a.kind == ArgKind::scalar || a.kind == ArgKind::scalar_list;
    if (!fits) {
      diagnostics_.error(node.position,
                         fmt::format("'{}' of {} is {} and cannot be promoted", a.name, o.qualified,
                                     spelling(a.kind)),
                         "tensors and Scalars");
    }
  }
}

void SettingsApplier::apply_into(const YamlNode& node, Overload& o) {
  const int index = find_argument(node.text, node.position, o);
  if (index < 0) return;
  const Argument& a = o.args[static_cast<size_t>(index)];
  if (a.kind == ArgKind::tensor && !a.optional) {
    o.promote.into = static_cast<uint32_t>(index);
    return;
  }
  diagnostics_.error(node.position,
                     fmt::format("'{}' of {} has no dtype for the results", a.name, o.qualified),
                     "a tensor that is no optional one");
}

void SettingsApplier::apply_roles(const YamlNode& node, Role role, Overload& o) {
  for (const YamlNode* name : parse_names(node, diagnostics_)) {
    const int index = find_argument(name->text, name->position, o);
    if (index < 0) continue;
    Argument& a = o.args[static_cast<size_t>(index)];
    if (is_tensor_kind(a.kind)) {
      diagnostics_.error(name->position, fmt::format("'{}' is a tensor, which has no role", a.name),
                         "an argument that is no tensor");
    } else if (role == Role::runtime && !may_be_runtime(a.kind)) {
      diagnostics_.error(name->position,
                         fmt::format("'{}' is {} and shapes the plan", a.name, spelling(a.kind)),
                         "a Scalar, float, SymInt or Generator as a runtime argument");
    } else {
      a.role = role;
    }
  }
}

void SettingsApplier::apply_rounding(const YamlNode& node, Overload& o) {
  if (!node.is_mapping())
    report_kind(node, "a mapping of Scalars and tensors to storage, tensor or opmath",
                diagnostics_);
  for (const YamlNode::Entry& entry : node.entries) {
    const int index = find_argument(entry.key, entry.key_position, o);
    if (index < 0) continue;
    Argument& a = o.args[static_cast<size_t>(index)];
    if (entry.value.text == "storage") {
      a.rounding = ScalarRounding::storage;
    } else if (entry.value.text == "tensor") {
      a.rounding = ScalarRounding::tensor;
    } else if (entry.value.text == "opmath") {
      a.rounding = ScalarRounding::opmath;
    } else {
      diagnostics_.error(entry.value.position,
                         fmt::format("unknown rounding '{}'", entry.value.text),
                         "storage, tensor or opmath");
    }
  }
}

void SettingsApplier::apply_strides(const YamlNode& node, StrideRule& rule) {
  if (node.is_scalar() && node.text == "elementwise") {
    rule.kind = StrideKind::elementwise;
  } else if (node.is_scalar() && node.text == "contiguous") {
    rule.kind = StrideKind::contiguous;
  } else if (node.is_mapping() && node.entries.size() == 1 && node.entries[0].key == "function") {
    rule.kind = StrideKind::function;
    rule.function = node.entries[0].value.text;
  } else {
    diagnostics_.error(
        node.position,
        node.is_scalar() ? fmt::format("unknown stride rule '{}'", node.text) : "not a stride rule",
        "elementwise, contiguous or {function: f}");
  }
}

void SettingsApplier::apply_outs(const YamlNode& node, Overload& o) {
  OutRule& rule = o.outs;
  Fields fields(node, "a rule of out= tensors", diagnostics_);
  if (const YamlNode* strides = fields.find("strides")) apply_strides(*strides, rule.strides);
  const auto one_of = [&](const char* key, std::initializer_list<const char*> words) {
    const YamlNode* value = fields.find(key);
    if (value == nullptr) return 0;
    int number = 0;
    for (const char* word : words) {
      ++number;
      if (value->text == word) return number;
    }
    diagnostics_.error(value->position, fmt::format("unknown {} '{}'", key, value->text),
                       fmt::format("{}, or the key left out", fmt::join(words, ", ")));
    return 0;
  };
  rule.dtype =
      static_cast<OutDType>(one_of("dtype", {"exact", "named", "computed", "truth", "floating"}));
  if (rule.dtype == OutDType::named) find_argument("dtype", node.position, o);
  const bool converts = rule.dtype == OutDType::computed || rule.dtype == OutDType::named;
  if (converts && (o.args.empty() || o.args[0].kind != ArgKind::tensor)) {
    diagnostics_.error(
        node.position,
        fmt::format("{} has no first tensor to compute in the dtype of out=", o.qualified),
        "a tensor as the first argument");
  }
  rule.shared = static_cast<SharedMemory>(one_of("shared", {"whole", "self", "refused"}));
  fields.finish();
}

void SettingsApplier::apply_random(const YamlNode& node, Overload& o) {
  Fields fields(node, "a random use", diagnostics_);
  o.random.seeded = fields.boolean("seeded", o.random.seeded);
  if (const YamlNode* counters = fields.find("counters")) {
    o.random.counters_per_element =
        static_cast<int32_t>(parse_integer(*counters, 0, 1 << 20, 0, diagnostics_));
  }
  o.random.order_nondeterministic = fields.boolean("order_nondeterministic", false);
  fields.finish();
}

void SettingsApplier::apply_cases(const YamlNode& node, Overload& o) {
  if (!node.is_sequence()) {
    o.cases.push_back(read_case(node, diagnostics_));
    return;
  }
  for (const YamlNode& item : node.items) o.cases.push_back(read_case(item, diagnostics_));
}

void SettingsApplier::apply_callable(const YamlNode& node, Overload& o) {
  const YamlNode* own = &node;
  if (node.is_mapping()) {
    Fields fields(node, "a callable", diagnostics_);
    own = fields.require("functional");
    fields.require("inplace");  // used where the variant is derived
    fields.finish();
  }
  if (own == nullptr) return;
  o.method = own->text == "method" || own->text == "both";
  o.function = own->text == "function" || own->text == "both";
  if (!o.method && !o.function) {
    diagnostics_.error(own->position, fmt::format("unknown callable '{}'", own->text),
                       "function, method or both");
  }
}

}  // namespace primset::specs
