#include <charconv>
#include <cmath>
#include <unordered_map>

#include "prims/graph/text.h"

namespace primset::prims {
namespace {

std::string symints_text(const Graph& g, const SymInts& xs) {
  std::string out = "[";
  for (size_t i = 0; i < xs.size(); ++i) out += (i ? ", " : "") + g.context().to_string(xs[i]);
  return out + "]";
}

std::string in_quotes(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char buffer[8];
      std::snprintf(buffer, sizeof(buffer), "\\x%02x", static_cast<unsigned char>(c));
      out += buffer;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string name_text(std::string_view s) {
  bool plain = !s.empty() && (std::isalpha(static_cast<unsigned char>(s[0])) || s[0] == '_');
  for (char c : s) plain = plain && (std::isalnum(static_cast<unsigned char>(c)) || c == '_');
  return plain ? std::string(s) : in_quotes(s);
}

// Reads back as the same number, whatever the locale.
std::string number_text(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  std::string out;
  for (int digits : {15, 16, 17}) {
    char text[40];
    const auto end =
        std::to_chars(text, text + sizeof(text), v, std::chars_format::general, digits);
    out.assign(text, end.ptr);
    double back = 0;
    std::from_chars(text, end.ptr, back);
    if (back == v) break;
  }
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string scalar_text(const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::boolean:
      return s.to_bool() ? "#true" : "#false";
    case Scalar::Kind::integer:
      return "#" + std::to_string(s.to_int());
    case Scalar::Kind::floating:
      return "#" + number_text(s.to_double());
    case Scalar::Kind::complex:
      return "#(" + number_text(s.to_double()) + ", " + number_text(s.imag()) + ")";
  }
  return "#0";
}

class Printer {
 public:
  explicit Printer(const Graph& graph) : g_(graph) {}

  std::string print() {
    header();
    out_ += "graph(";
    for (size_t i = 0; i < g_.inputs.size(); ++i) {
      const Input& in = g_.inputs[i];
      out_ += (i ? ", " : "") + define(in.value) + " " + name_text(in.name) + ": ";
      bool scalar = in.kind == Input::Kind::scalar;
      out_ += scalar ? std::string(name(g_.type(in.value).dtype)) + " scalar"
                     : type_text(g_, g_.type(in.value));
    }
    out_ += ") {\n";
    for (NodeId n : g_.body.nodes) node(g_.node(n), "  ");
    out_ += "  return";
    for (size_t i = 0; i < g_.outputs.size(); ++i) {
      const Output& o = g_.outputs[i];
      out_ += (i ? ", " : " ") + use(o.value) + " " + name_text(o.name);
      if (o.writes_input) out_ += " writes " + std::to_string(*o.writes_input);
    }
    return out_ + "\n}\n";
  }

 private:
  std::string define(ValueId v) {
    numbers_.emplace(v, static_cast<uint32_t>(numbers_.size()));
    return use(v);
  }
  // A value that no one defines (the graph is broken) keeps its own number, marked.
  std::string use(ValueId v) const {
    if (v == kNoValue) return "none";
    auto it = numbers_.find(v);
    return it != numbers_.end() ? "%" + std::to_string(it->second) : "%?" + std::to_string(v);
  }

  void header() {
    const SymContext& c = g_.context();
    for (size_t i = 0; i < c.symbol_count(); ++i) {
      out_ += "symbol " + c.symbol_name(i) + " = " + std::to_string(c.symbol_hint(i));
      if (c.symbol_lower(i) != INT64_MIN) out_ += " min " + std::to_string(c.symbol_lower(i));
      out_ += "\n";
    }
    for (const Guard& guard : c.guards()) out_ += "guard " + c.to_string(guard) + "\n";
  }

  void node(const Node& n, const std::string& indent) {
    // Regions first, since their values are numbered first.
    std::string outer = std::move(out_);
    out_.clear();
    for (const Region& r : n.regions) region(r, indent);
    std::string regions = std::move(out_);
    out_ = std::move(outer) + indent;
    for (size_t i = 0; i < n.results.size(); ++i) {
      out_ += (i ? ", " : "") + define(n.results[i]) + ": " + type_text(g_, g_.type(n.results[i]));
    }
    if (!n.results.empty()) out_ += " = ";
    out_ += std::string(info(n.prim).name) + "(";
    for (size_t i = 0; i < n.operands.size(); ++i) out_ += (i ? ", " : "") + use(n.operands[i]);
    out_ += ")";
    if (!n.attrs.empty()) attrs(n.attrs);
    out_ += regions + "\n";
  }

  void attrs(const std::vector<Attr>& attrs) {
    out_ += " {";
    for (size_t i = 0; i < attrs.size(); ++i) {
      out_ += (i ? ", " : "") + std::string(attrs[i].name) + " = ";
      out_ += std::visit([this](const auto& v) { return value(v); }, attrs[i].value);
    }
    out_ += "}";
  }

  void region(const Region& r, const std::string& indent) {
    out_ += " region(";
    for (size_t i = 0; i < r.params.size(); ++i) {
      out_ += (i ? ", " : "") + define(r.params[i]) + ": " + type_text(g_, g_.type(r.params[i]));
    }
    out_ += ") {\n";
    for (NodeId n : r.nodes) node(g_.node(n), indent + "  ");
    out_ += indent + "  return";
    for (size_t i = 0; i < r.results.size(); ++i) out_ += (i ? ", " : " ") + use(r.results[i]);
    out_ += "\n" + indent + "}";
  }

  std::string value(int64_t v) const { return std::to_string(v); }
  std::string value(bool v) const { return v ? "true" : "false"; }
  std::string value(const std::string& v) const { return in_quotes(v); }
  std::string value(DType v) const { return std::string(name(v)); }
  std::string value(const SymInt& v) const { return "<" + g_.context().to_string(v) + ">"; }
  std::string value(const SymInts& v) const { return symints_text(g_, v); }
  std::string value(const Scalar& v) const { return scalar_text(v); }
  std::string value(const Attr::Ints& v) const {
    std::string out = "(";
    for (size_t i = 0; i < v.size(); ++i) out += (i ? ", " : "") + std::to_string(v[i]);
    return out + ")";
  }

  const Graph& g_;
  std::unordered_map<ValueId, uint32_t> numbers_;
  std::string out_;
};

}  // namespace

std::string type_text(const Graph& graph, const ValueType& type) {
  return std::string(name(type.dtype)) + symints_text(graph, type.shape);
}

std::string print(const Graph& graph) {
  return Printer(graph).print();
}

}  // namespace primset::prims
