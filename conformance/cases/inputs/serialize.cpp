#include "conformance/cases/inputs/serialize.h"

#include <nlohmann/json.hpp>

#include "prims/graph/text.h"

namespace primset::conformance {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr const char* kHex = "0123456789abcdef";

std::string to_hex(const HostStorage& bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (std::byte b : bytes) {
    out += kHex[static_cast<unsigned>(b) >> 4];
    out += kHex[static_cast<unsigned>(b) & 15];
  }
  return out;
}

[[noreturn]] void corrupt(const std::string& what) {
  throw Error(ErrorCode::corrupt, "this is no saved case: " + what);
}

unsigned hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  corrupt(std::string("'") + c + "' is no hexadecimal digit");
}

HostStorage from_hex(const std::string& text) {
  if (text.size() % 2) corrupt("a storage has half a byte");
  HostStorage out;
  for (size_t i = 0; i < text.size(); i += 2) {
    out.push_back(static_cast<std::byte>(hex_digit(text[i]) << 4 | hex_digit(text[i + 1])));
  }
  return out;
}

json tensor_json(const HostTensor& t) {
  return {{"dtype", name(t.dtype)}, {"sizes", t.sizes},           {"strides", t.strides},
          {"offset", t.offset},     {"storage", t.storage},       {"conj", t.conj},
          {"neg", t.neg},           {"wrapped", t.wrapped_number}};
}

DType dtype_from(const json& j) {
  std::optional<DType> t = dtype_from_name(j.get<std::string>());
  if (!t) corrupt("an unknown dtype");
  return *t;
}

HostTensor tensor_from(const json& j, size_t storages) {
  HostTensor t{dtype_from(j.at("dtype")),
               j.at("sizes").get<std::vector<int64_t>>(),
               j.at("strides").get<std::vector<int64_t>>(),
               j.at("offset").get<int64_t>(),
               j.at("storage").get<uint32_t>(),
               j.at("conj").get<bool>(),
               j.at("neg").get<bool>(),
               j.at("wrapped").get<bool>()};
  if (t.storage >= storages || t.sizes.size() != t.strides.size() || t.offset < 0) {
    corrupt("a tensor that lies nowhere");
  }
  return t;
}

// Numbers travel as hexadecimal text, since JSON has neither NaN nor infinities.
json scalar_json(const Scalar& s) {
  char re[40], im[40];
  std::snprintf(re, sizeof(re), "%a", s.to_double());
  std::snprintf(im, sizeof(im), "%a", s.imag());
  return {{"kind", static_cast<int>(s.kind())},
          {"integer", s.is_integral() ? s.to_int() : 0},
          {"re", re},
          {"im", im}};
}

double number_from(const json& j) {
  return std::strtod(j.get<std::string>().c_str(), nullptr);
}

Scalar scalar_from(const json& j) {
  switch (static_cast<Scalar::Kind>(j.at("kind").get<int>())) {
    case Scalar::Kind::boolean:
      return Scalar(j.at("integer").get<int64_t>() != 0);
    case Scalar::Kind::integer:
      return Scalar(j.at("integer").get<int64_t>());
    case Scalar::Kind::floating:
      return Scalar(number_from(j.at("re")));
    default:
      return Scalar(std::complex<double>(number_from(j.at("re")), number_from(j.at("im"))));
  }
}

// Each alternative has a tag; the value stands under it.
struct ToJson {
  json operator()(std::monostate) { return nullptr; }
  json operator()(const HostTensor& t) { return {{"tensor", tensor_json(t)}}; }
  json operator()(const TensorList& list) {
    json out = json::array();
    for (const auto& t : list) out.push_back(t ? tensor_json(*t) : json());
    return {{"tensors", out}};
  }
  json operator()(const Scalar& s) { return {{"scalar", scalar_json(s)}}; }
  json operator()(const std::vector<Scalar>& list) {
    json out = json::array();
    for (const Scalar& s : list) out.push_back(scalar_json(s));
    return {{"scalars", out}};
  }
  json operator()(int64_t v) { return {{"int", v}}; }
  json operator()(const std::vector<int64_t>& v) { return {{"ints", v}}; }
  json operator()(double v) { return {{"float", scalar_json(Scalar(v))}}; }
  json operator()(const std::vector<double>& list) {
    json out = json::array();
    for (double v : list) out.push_back(scalar_json(Scalar(v)));
    return {{"floats", out}};
  }
  json operator()(bool v) { return {{"bool", v}}; }
  json operator()(const std::vector<bool>& v) { return {{"bools", v}}; }
  json operator()(const std::string& v) { return {{"string", v}}; }
  json operator()(DType v) { return {{"dtype", name(v)}}; }
  json operator()(Layout v) { return {{"layout", static_cast<int>(v)}}; }
  json operator()(MemoryFormat v) { return {{"memory_format", static_cast<int>(v)}}; }
  json operator()(DeviceUnderTest) { return {{"device", true}}; }
  json operator()(RngState v) { return {{"seed", v.seed}, {"offset", v.offset}}; }
  json operator()(OutTensor v) { return {{"out", static_cast<int>(v.kind)}}; }
};

ArgValue list_from(const json& j, size_t storages) {
  if (j.contains("tensors")) {
    TensorList out;
    for (const json& t : j["tensors"]) {
      out.push_back(t.is_null() ? std::optional<HostTensor>() : tensor_from(t, storages));
    }
    return out;
  }
  if (j.contains("scalars")) {
    std::vector<Scalar> out;
    for (const json& s : j["scalars"]) out.push_back(scalar_from(s));
    return out;
  }
  if (j.contains("floats")) {
    std::vector<double> out;
    for (const json& s : j["floats"]) out.push_back(scalar_from(s).to_double());
    return out;
  }
  if (j.contains("ints")) return j["ints"].get<std::vector<int64_t>>();
  if (j.contains("bools")) return j["bools"].get<std::vector<bool>>();
  corrupt("an argument of an unknown kind");
}

ArgValue argument_from(const json& j, size_t storages) {
  if (j.is_null()) return std::monostate{};
  if (j.contains("tensor")) return tensor_from(j["tensor"], storages);
  if (j.contains("scalar")) return scalar_from(j["scalar"]);
  if (j.contains("int")) return j["int"].get<int64_t>();
  if (j.contains("float")) return scalar_from(j["float"]).to_double();
  if (j.contains("bool")) return j["bool"].get<bool>();
  if (j.contains("string")) return j["string"].get<std::string>();
  if (j.contains("dtype")) return dtype_from(j["dtype"]);
  if (j.contains("layout")) return static_cast<Layout>(j["layout"].get<int>());
  if (j.contains("memory_format")) return static_cast<MemoryFormat>(j["memory_format"].get<int>());
  if (j.contains("device")) return DeviceUnderTest{};
  if (j.contains("seed")) return RngState{j["seed"].get<uint64_t>(), j["offset"].get<uint64_t>()};
  return list_from(j, storages);
}

void read_case(const json& j, TestCase& test) {
  test.id = CaseId::parse(j.at("id").get<std::string>());
  test.text = j.at("text").get<std::string>();
  test.may_be_refused = j.at("may_be_refused").get<bool>();
  if (j.contains("expected_error")) {
    test.expected_error = static_cast<ErrorCode>(j["expected_error"].get<int>());
  }
  for (const json& s : j.at("storages")) test.storages.push_back(from_hex(s.get<std::string>()));
  for (const json& a : j.at("args")) test.args.push_back(argument_from(a, test.storages.size()));
  for (const json& t : j.at("inputs")) test.inputs.push_back(tensor_from(t, test.storages.size()));
  if (test.id.level == Level::primitive) {
    test.graph = std::make_shared<prims::Graph>(prims::parse(j.at("graph").get<std::string>()));
  }
}

json case_json(const SavedCase& saved) {
  const TestCase& test = saved.test;
  json j = {{"primset_case", kVersion},
            {"id", test.id.to_string()},
            {"seed", saved.seed},
            {"device", saved.device},
            {"verdict", saved.verdict},
            {"text", test.text},
            {"graph", test.graph ? prims::print(*test.graph) : saved.graph},
            {"may_be_refused", test.may_be_refused},
            {"expected", saved.expected}};
  if (test.expected_error) j["expected_error"] = static_cast<int>(*test.expected_error);
  j["args"] = json::array();
  for (const ArgValue& v : test.args) j["args"].push_back(std::visit(ToJson{}, v));
  j["inputs"] = json::array();
  for (const HostTensor& t : test.inputs) j["inputs"].push_back(tensor_json(t));
  j["storages"] = json::array();
  for (const HostStorage& s : test.storages) j["storages"].push_back(to_hex(s));
  return j;
}

}  // namespace

std::string to_json(const SavedCase& saved) {
  return case_json(saved).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string to_json_line(const SavedCase& saved) {
  return case_json(saved).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

SavedCase saved_case_from_json(std::string_view text) {
  try {
    json j = json::parse(text);
    if (j.at("primset_case") != kVersion) corrupt("its version is not 1");
    SavedCase saved;
    saved.seed = j.at("seed").get<uint64_t>();
    saved.device = j.at("device").get<std::string>();
    saved.graph = j.at("graph").get<std::string>();
    saved.expected = j.at("expected").get<std::string>();
    saved.verdict = j.at("verdict").get<std::string>();
    read_case(j, saved.test);
    return saved;
  } catch (const json::exception& e) {
    corrupt(e.what());
  }
}

}  // namespace primset::conformance
