#include "codegen/specgen/parse/op_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "codegen/specgen/parse/op_settings.h"
#include "codegen/specgen/parse/schema_parser.h"
#include "codegen/specgen/parse/vocabulary.h"
#include "codegen/specgen/read/fields.h"
#include "codegen/specgen/resolve/variants.h"

namespace primset::specs {
namespace {

// YAML has no empty key, so the overload without a name is called default.
std::string overload_name(const std::string& key) {
  return key == "default" ? "" : key;
}

OverloadKind kind_of(const Overload& o) {
  const auto writes = [](const Argument& a) { return a.alias.writes; };
  if (std::any_of(o.args.begin(), o.args.end(), [](const Argument& a) { return a.is_out; })) {
    return OverloadKind::out;
  }
  const bool inplace_name =
      o.op.ends_with("_") && (!o.op.starts_with("__") || o.op.starts_with("__i"));
  if (inplace_name && !o.args.empty() && writes(o.args[0])) return OverloadKind::inplace;
  return std::any_of(o.args.begin(), o.args.end(), writes) ? OverloadKind::mutable_op
                                                           : OverloadKind::functional;
}

class EntryReader {
 public:
  EntryReader(const std::string& family, Bundle& bundle, OperatorSources& sources,
              Diagnostics& diagnostics)
      : family_(family),
        bundle_(bundle),
        sources_(sources),
        diagnostics_(diagnostics),
        applier_(bundle, diagnostics) {}

  void run(const YamlNode& node) {
    Fields fields(node, "an operator", diagnostics_);
    op_ = fields.require_text("op");
    const YamlNode* overloads = fields.require("overloads");
    OpSettings common;
    common.read(fields);
    fields.finish();
    if (overloads == nullptr) return;
    if (!overloads->is_mapping()) {
      report_kind(*overloads, "a mapping of overload names to schemas", diagnostics_);
      return;
    }
    check_variant_names(common.variants, *overloads);
    for (const YamlNode::Entry& entry : overloads->entries) read_overload(entry, common);
    applier_.finish();
  }

 private:
  void read_overload(const YamlNode::Entry& entry, OpSettings settings) {
    const YamlNode* schema = &entry.value;
    if (!entry.value.is_scalar()) {
      Fields fields(entry.value, "a schema or an overload", diagnostics_);
      schema = fields.require("schema");
      settings.read(fields);
      fields.finish();
    }
    if (schema == nullptr || !schema->is_scalar()) return;
    Overload o;
    o.op = op_;
    o.overload = overload_name(entry.key);
    if (!set_schema(*schema, entry.key_position, o)) return;
    o.kind = kind_of(o);
    applier_.apply(settings, o);
    const auto index = static_cast<uint32_t>(bundle_.overloads.size());
    refer(o, index, settings);
    bundle_.overloads.push_back(std::move(o));
    if (settings.variants != nullptr && bundle_.overloads[index].kind == OverloadKind::functional) {
      add_variants(*settings.variants, index, entry.key, settings);
    }
  }

  // Parses the text behind the name; false when it is no schema.
  bool set_schema(const YamlNode& text, Position name, Overload& o) {
    Schema schema = parse_schema(text, diagnostics_);
    o.family = family_;
    o.qualified = qualified_name(o.op, o.overload);
    o.schema = o.qualified + text.text;
    o.args = std::move(schema.args);
    o.returns = std::move(schema.returns);
    o.file = name.file;
    o.line = name.line;
    o.column = name.column;
    return schema.ok;
  }

  void refer(Overload& o, uint32_t index, const OpSettings& settings) {
    if (o.implementation.kind == ImplKind::alias) {
      sources_.references.push_back({OverloadReference::Kind::alias, index,
                                     std::exchange(o.implementation.function, ""),
                                     settings.decompose->entries[0].value.position});
    }
    if (settings.base != nullptr) {
      sources_.references.push_back(
          {OverloadReference::Kind::base, index, settings.base->text, settings.base->position});
    }
  }

  // variants: [inplace, out], or a mapping of these to the overloads that have them.
  void add_variants(const YamlNode& node, uint32_t base, const std::string& key,
                    const OpSettings& settings) {
    if (node.is_mapping()) {
      for (const YamlNode::Entry& entry : node.entries) {
        add_chosen_variant(entry.key, entry.key_position, entry.value, base, key, settings);
      }
      return;
    }
    for (const YamlNode* kind : parse_names(node, diagnostics_)) {
      add_variant(kind->text, kind->position, {}, base, settings);
    }
  }

  // What an entry says of a variant that is not as it would be derived.
  struct Variant {
    std::optional<std::string> name;
    const YamlNode* schema = nullptr;
    const YamlNode* dtypes = nullptr;
  };

  // `chosen`: [Tensor, Scalar], or {Tensor: overload name, Scalar: {name: …, schema: …, dtypes:
  // …}}.
  void add_chosen_variant(const std::string& kind, Position at, const YamlNode& chosen,
                          uint32_t base, const std::string& key, const OpSettings& settings) {
    if (!chosen.is_mapping()) {
      for (const YamlNode* name : parse_names(chosen, diagnostics_)) {
        if (name->text == key) add_variant(kind, at, {}, base, settings);
      }
      return;
    }
    const YamlNode::Entry* entry = chosen.find(key);
    if (entry == nullptr) return;
    if (entry->value.is_scalar()) {
      add_variant(kind, at, {overload_name(entry->value.text)}, base, settings);
      return;
    }
    Fields fields(entry->value, "a variant", diagnostics_);
    Variant variant;
    if (const YamlNode* text = fields.find("name")) variant.name = overload_name(text->text);
    variant.schema = fields.find("schema");
    variant.dtypes = fields.find("dtypes");
    fields.finish();
    add_variant(kind, at, variant, base, settings);
  }

  void add_variant(const std::string& kind, Position at, const Variant& variant,
                   uint32_t base_index, const OpSettings& settings) {
    const auto& [name, schema, dtypes] = variant;
    const Overload& base = bundle_.overloads[base_index];
    Overload o;
    if (kind == "inplace") {
      if (schema == nullptr && !has_inplace_form(base)) {
        diagnostics_.error(at, fmt::format("{} has no in-place form", base.qualified),
                           "a tensor 'self' as the first argument, or a schema");
        return;
      }
      const std::string overload = name.value_or(base.overload);
      o = schema == nullptr ? derive_inplace(base, overload)
                            : explicit_variant(base, OverloadKind::inplace, overload, *schema);
      set_callable(settings.callable, base, o);
    } else if (kind == "out") {
      const std::string overload =
          name.value_or(base.overload.empty() ? "out" : base.overload + "_out");
      o = schema == nullptr ? derive_out(base, overload)
                            : explicit_variant(base, OverloadKind::out, overload, *schema);
    } else {
      diagnostics_.error(at, fmt::format("unknown variant '{}'", kind), "inplace or out");
      return;
    }
    applier_.apply_intrinsic(settings, true, o);
    if (!o.intrinsic.empty()) o.status = Status::implemented;
    if (dtypes != nullptr) o.dtypes = parse_dtype_set(*dtypes, bundle_, diagnostics_);
    o.base = base_index;
    o.file = at.file;
    o.line = schema == nullptr ? base.line : schema->position.line;
    o.column = schema == nullptr ? base.column : schema->position.column;
    bundle_.overloads.push_back(std::move(o));
  }

  Overload explicit_variant(const Overload& base, OverloadKind kind, const std::string& overload,
                            const YamlNode& schema) {
    Overload o;
    o.op = kind == OverloadKind::inplace ? inplace_name(op_) : op_;
    o.overload = overload;
    set_schema(schema, schema.position, o);
    o.kind = kind;  // which says what it inherits
    inherit(base, o);
    return o;
  }

  // A method's in-place form is a method, a function's a function, unless the entry says otherwise.
  void set_callable(const YamlNode* callable, const Overload& base, Overload& o) {
    o.method = base.method;
    o.function = !base.method;
    const YamlNode::Entry* entry = callable == nullptr ? nullptr : callable->find("inplace");
    if (entry == nullptr) return;
    o.method = entry->value.text == "method" || entry->value.text == "both";
    o.function = entry->value.text == "function" || entry->value.text == "both";
  }

  // In a mapping of variants every overload must be one of the entry's.
  void check_variant_names(const YamlNode* variants, const YamlNode& overloads) {
    if (variants == nullptr) return;
    std::vector<std::string_view> known;
    for (const YamlNode::Entry& entry : overloads.entries) known.push_back(entry.key);
    auto check = [&](const std::string& name, Position at) {
      if (std::find(known.begin(), known.end(), name) != known.end()) return;
      diagnostics_.error(at, fmt::format("unknown overload {}", quote_with_suggestion(name, known)),
                         known.empty() ? "" : one_of(known));
    };
    for (const YamlNode::Entry& entry : variants->entries) {
      if (!entry.value.is_mapping()) {
        for (const YamlNode* name : parse_names(entry.value, diagnostics_)) {
          check(name->text, name->position);
        }
      }
      for (const YamlNode::Entry& chosen : entry.value.entries)
        check(chosen.key, chosen.key_position);
    }
  }

  const std::string& family_;
  Bundle& bundle_;
  OperatorSources& sources_;
  Diagnostics& diagnostics_;
  SettingsApplier applier_;
  std::string op_;
};

}  // namespace

void read_operator(const YamlNode& node, const std::string& family, Bundle& bundle,
                   OperatorSources& sources, Diagnostics& diagnostics) {
  EntryReader(family, bundle, sources, diagnostics).run(node);
}

}  // namespace primset::specs
