// Reads a saved case. Every number is checked where it is read: a size or an offset that is
// believed would become an address.
#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "conformance/cases/inputs/json_field.h"
#include "conformance/cases/inputs/serialize.h"
#include "conformance/cases/inputs/sparse_values.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::conformance {
namespace {

// As ATen's.
constexpr size_t kMaxRank = 64;
// A stride of 0 makes any number of elements of a few bytes.
constexpr int64_t kMaxElements = int64_t{1} << 26;

unsigned hex_digit(const JsonField& field, char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  field.fail(fmt::format("'{}'", c), "hexadecimal digits");
}

HostStorage read_storage(const JsonField& field) {
  const std::string& text = field.text();
  if (text.size() % 2) field.fail("half a byte at the end", "two digits a byte");
  HostStorage out;
  out.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    out.push_back(
        static_cast<std::byte>(hex_digit(field, text[i]) << 4 | hex_digit(field, text[i + 1])));
  }
  return out;
}

DType read_dtype(const JsonField& field) {
  const std::optional<DType> t = dtype_from_name(field.text());
  if (!t || byte_size(*t) == 0) field.fail("the name of a dtype");
  return *t;
}

// Numbers travel as hexadecimal text, since JSON has neither NaN nor infinities.
double read_number(const JsonField& field) {
  const std::string& text = field.text();
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) field.fail("a number as %a prints it");
  return value;
}

Scalar read_scalar_value(const JsonField& field) {
  const auto kind = static_cast<Scalar::Kind>(
      field.at("kind").integer(0, static_cast<int64_t>(Scalar::Kind::complex)));
  switch (kind) {
    case Scalar::Kind::boolean:
      return Scalar(field.at("integer").integer() != 0);
    case Scalar::Kind::integer:
      return Scalar(field.at("integer").integer());
    case Scalar::Kind::floating:
      return Scalar(read_number(field.at("re")));
    case Scalar::Kind::complex:
      break;
  }
  return Scalar(std::complex<double>(read_number(field.at("re")), read_number(field.at("im"))));
}

void check_sizes(const JsonField& field, const HostTensor& t) {
  if (t.sizes.size() > kMaxRank)
    field.at("sizes").fail(fmt::format("{} sizes", t.sizes.size()),
                           fmt::format("at most {}", kMaxRank));
  if (t.strides.size() != t.sizes.size())
    field.at("strides").fail(fmt::format("{} strides", t.strides.size()),
                             fmt::format("one for each of {} sizes", t.sizes.size()));
  int64_t elements = 1;
  for (size_t d = 0; d < t.sizes.size(); ++d) {
    if (t.sizes[d] < 0) field.at("sizes").fail(std::to_string(t.sizes[d]), "no negative size");
    if (t.strides[d] < 0)
      field.at("strides").fail(std::to_string(t.strides[d]), "no negative stride");
    if (__builtin_mul_overflow(elements, t.sizes[d], &elements) || elements > kMaxElements)
      field.at("sizes").fail("more elements", fmt::format("at most {}", kMaxElements));
  }
}

HostTensor read_strided(const JsonField& field, const std::vector<HostStorage>& storages) {
  HostTensor t;
  t.dtype = read_dtype(field.at("dtype"));
  t.sizes = field.at("sizes").integers();
  t.strides = field.at("strides").integers();
  t.offset = field.at("offset").integer(0, std::numeric_limits<int64_t>::max());
  t.storage = static_cast<uint32_t>(
      field.at("storage").integer(0, static_cast<int64_t>(storages.size()) - 1));
  t.conj = field.at("conj").boolean();
  t.neg = field.at("neg").boolean();
  t.wrapped_number = field.at("wrapped").boolean();
  check_sizes(field, t);
  const size_t bytes = storages[t.storage].size();
  if (!lies_within(t, bytes))
    field.fail("elements outside of its storage", fmt::format("all within {} bytes", bytes));
  if (t.wrapped_number && !t.sizes.empty()) field.at("sizes").fail("no sizes of a wrapped number");
  if (t.conj && !is_complex(t.dtype))
    field.at("conj").fail("true", "false, since the dtype is not complex");
  if (t.neg && is_bool(t.dtype)) field.at("neg").fail("true", "false, since the dtype is bool");
  return t;
}

Layout read_layout(const JsonField& field) {
  for (const LayoutName& l : primset::kLayoutNames) {
    if (field.text() == l.name) return l.layout;
  }
  field.fail("the name of a layout");
}

// A tensor whose indices lie outside of its sizes would be believed by every kernel.
HostTensor read_tensor(const JsonField& field, const std::vector<HostStorage>& storages) {
  HostTensor t = read_strided(field, storages);
  if (!field.has("layout")) return t;
  t.layout = read_layout(field.at("layout"));
  t.coalesced = field.at("coalesced").boolean();
  for (const JsonField& part : field.at("parts").elements())
    t.parts.push_back(read_strided(part, storages));
  if (!t.is_sparse()) field.at("layout").fail("a strided tensor", "a sparse layout beside parts");
  const std::string wrong = pattern_mistake(read_sparse(storages, t));
  if (!wrong.empty()) field.at("parts").fail(wrong, "parts that make a tensor of these sizes");
  if (t.parts.back().dtype != t.dtype)
    field.at("dtype").fail("another dtype than the values'", "theirs");
  return t;
}

template <typename F>
auto read_list(const JsonField& field, F read) {
  std::vector<decltype(read(field))> out;
  for (const JsonField& e : field.elements()) out.push_back(read(e));
  return out;
}

template <typename Enum>
Enum read_enum(const JsonField& field, Enum last) {
  return static_cast<Enum>(field.integer(0, static_cast<int64_t>(last)));
}

ArgValue read_list_argument(const JsonField& field, const std::vector<HostStorage>& storages) {
  if (field.has("tensors")) {
    return read_list(field.at("tensors"), [&](const JsonField& e) {
      return e.is_null() ? std::optional<HostTensor>() : read_tensor(e, storages);
    });
  }
  if (field.has("scalars")) return read_list(field.at("scalars"), read_scalar_value);
  if (field.has("floats")) {
    return read_list(field.at("floats"),
                     [](const JsonField& e) { return read_scalar_value(e).to_double(); });
  }
  if (field.has("ints")) return field.at("ints").integers();
  if (field.has("bools"))
    return read_list(field.at("bools"), [](const JsonField& e) { return e.boolean(); });
  field.fail("null, or an object with the kind of an argument as its key");
}

ArgValue read_argument(const JsonField& field, const std::vector<HostStorage>& storages) {
  if (field.is_null()) return std::monostate{};
  if (field.has("tensor")) return read_tensor(field.at("tensor"), storages);
  if (field.has("scalar")) return read_scalar_value(field.at("scalar"));
  if (field.has("int")) return field.at("int").integer();
  if (field.has("float")) return read_scalar_value(field.at("float")).to_double();
  if (field.has("bool")) return field.at("bool").boolean();
  if (field.has("string")) return field.at("string").text();
  if (field.has("dtype")) return read_dtype(field.at("dtype"));
  if (field.has("layout")) return read_layout(field.at("layout"));
  if (field.has("memory_format"))
    return read_enum(field.at("memory_format"), MemoryFormat::channels_last_3d);
  if (field.has("device")) return DeviceUnderTest{};
  if (field.has("seed")) return RngState{field.at("seed").natural(), field.at("offset").natural()};
  return read_list_argument(field, storages);
}

std::shared_ptr<prims::Graph> read_graph(const JsonField& field) {
  std::vector<std::string> wrong;
  try {
    auto graph = std::make_shared<prims::Graph>(prims::parse(field.text()));
    wrong = prims::verify(*graph);
    if (wrong.empty()) return graph;
  } catch (const Error& e) {
    if (e.code() == ErrorCode::corrupt) throw;
    wrong.emplace_back(e.what());
  } catch (const std::exception& e) {  // an attribute of another type than the primitive's
    wrong.emplace_back(e.what());
  }
  field.fail("a graph with " + wrong.front(), "one that parses and verifies");
}

CaseId read_id(const JsonField& field) {
  try {
    return CaseId::parse(field.text());
  } catch (const Error& e) {
    if (e.code() == ErrorCode::corrupt) throw;
    field.fail(e.what());
  }
}

void read_case(const JsonField& root, TestCase& test) {
  test.id = read_id(root.at("id"));
  test.text = root.at("text").text();
  test.may_be_refused = root.at("may_be_refused").boolean();
  if (root.has("expected_error"))
    test.expected_error = read_enum(root.at("expected_error"), ErrorCode::internal);
  if (root.has("result_layouts"))
    test.result_layouts = read_list(root.at("result_layouts"), read_layout);
  test.storages = read_list(root.at("storages"), read_storage);
  auto tensor = [&](const JsonField& e) { return read_tensor(e, test.storages); };
  test.args = read_list(root.at("args"),
                        [&](const JsonField& e) { return read_argument(e, test.storages); });
  test.inputs = read_list(root.at("inputs"), tensor);
  if (test.id.level == Level::primitive) test.graph = read_graph(root.at("graph"));
}

}  // namespace

SavedCase saved_case_from_json(std::string_view text) {
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorCode::corrupt, fmt::format("this is no JSON: {}", e.what()));
  }
  const JsonField root(document);
  root.at("primset_case").integer(kSavedCaseVersion, kSavedCaseVersion);
  SavedCase saved;
  saved.seed = root.at("seed").natural();
  saved.device = root.at("device").text();
  saved.graph = root.at("graph").text();
  saved.expected = root.at("expected").text();
  saved.verdict = root.at("verdict").text();
  read_case(root, saved.test);
  return saved;
}

}  // namespace primset::conformance
