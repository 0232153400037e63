#include "conformance/cases/inputs/make_primitive.h"

#include <map>

#include "prims/graph/builder.h"
#include "prims/graph/intern.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::conformance {
namespace {

using prims::Attr;
using prims::Builder;
using prims::SymInts;
using prims::ValueId;
using specs::AttributeType;

decltype(Attr::value) attribute_value(AttributeType type, std::string_view text,
                                      const ValueReader& reader) {
  switch (type) {
    case AttributeType::dtype:
      return reader.dtype_of(text);
    case AttributeType::integer:
      return read_integer(text);
    case AttributeType::ints:
      return read_integers(text);
    case AttributeType::size:
      return prims::SymInt(read_integer(text));
    case AttributeType::sizes: {
      std::vector<int64_t> sizes = read_integers(text);
      return SymInts(sizes.begin(), sizes.end());
    }
    case AttributeType::scalar:
      return read_scalar(text);
    case AttributeType::string:
      return read_string(text);
    case AttributeType::boolean:
      return read_boolean(text);
  }
  throw Error(ErrorCode::internal, "an attribute of an unknown type");
}

class Maker {
 public:
  Maker(const specs::Primitive& primitive, const CaseText& text, ValueReader& reader,
        TestCase& test)
      : primitive_(primitive),
        text_(text),
        reader_(reader),
        test_(test),
        builder_(*(test.graph = std::make_shared<prims::Graph>())) {}

  void make() {
    Builder::Values operands;
    for (const specs::Operand& o : primitive_.operands) add_operand(o, operands);
    std::vector<Attr> attrs;
    for (const specs::Attribute& a : primitive_.attributes) {
      attrs.push_back({prims::intern(a.name), value_of(a)});
    }
    prims::Prim prim = prims::prim_from_name(primitive_.name).value();
    Builder::Values results = builder_.add(prim, operands, std::move(attrs));
    for (size_t i = 0; i < results.size(); ++i) {
      builder_.output("result" + std::to_string(i), results[i]);
    }
    prims::verify_or_throw(builder_.graph());
  }

 private:
  void add_operand(const specs::Operand& o, Builder::Values& operands) {
    const std::string* text = text_.find(o.name);
    if (!text || *text == "none") {
      operands.push_back(prims::kNoValue);
    } else if (o.variadic) {
      for (const auto& t : reader_.tensors(*text)) operands.push_back(input(o.name, t.value()));
    } else {
      operands.push_back(input(o.name, reader_.tensor(*text)));
    }
  }

  ValueId input(const std::string& name, const HostTensor& t) {
    std::string unique = name;
    if (int n = names_[name]++) unique += "_" + std::to_string(n);
    test_.inputs.push_back(t);
    return builder_.tensor_input(unique, {t.dtype, SymInts(t.sizes.begin(), t.sizes.end())});
  }

  decltype(Attr::value) value_of(const specs::Attribute& a) const {
    const std::string* text = text_.find(a.name);
    if (!text && !a.default_value.present()) {
      throw Error(ErrorCode::value, primitive_.name + " needs '" + a.name + "'");
    }
    return attribute_value(a.type, text ? *text : a.default_value.spelling, reader_);
  }

  const specs::Primitive& primitive_;
  const CaseText& text_;
  ValueReader& reader_;
  TestCase& test_;
  Builder builder_;
  std::map<std::string, int> names_;
};

// Takes "{fill}" out of the list of inputs; one fill an input, empty for the usual one.
std::vector<std::string> take_fills(std::string& text) {
  std::vector<std::string> fills;
  size_t end = text.find(')');
  for (size_t at = text.find('['); at < end; at = text.find('[', at)) {
    size_t close = text.find(']', at);
    std::string fill;
    if (close + 1 < text.size() && text[close + 1] == '{') {
      size_t brace = text.find('}', close);
      fill = text.substr(close + 1, brace - close);
      text.erase(close + 1, fill.size());
      end -= fill.size();
    }
    fills.push_back(fill);
    at = close;
  }
  return fills;
}

std::string replace_dtype(std::string_view text, std::string_view dtype) {
  std::string out(text);
  for (size_t at; (at = out.find("$T")) != std::string::npos;) out.replace(at, 2, dtype);
  return out;
}

}  // namespace

void make_primitive_case(const specs::Primitive& primitive, const CaseText& text,
                         ValueReader& reader, TestCase& test) {
  Maker(primitive, text, reader, test).make();
}

void make_graph_case(std::string_view text, ValueReader& reader, TestCase& test) {
  std::string graph_text = replace_dtype(text, name(test.id.dtype));
  std::vector<std::string> fills = take_fills(graph_text);
  test.graph = std::make_shared<prims::Graph>(prims::parse(graph_text));
  prims::verify_or_throw(*test.graph);
  for (size_t i = 0; i < test.graph->inputs.size(); ++i) {
    std::string type = prims::type_text(*test.graph, test.graph->type(test.graph->inputs[i].value));
    test.inputs.push_back(reader.tensor(type + (i < fills.size() ? fills[i] : std::string())));
  }
}

}  // namespace primset::conformance
