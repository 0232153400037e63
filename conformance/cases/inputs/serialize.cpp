#include "conformance/cases/inputs/serialize.h"

#include <nlohmann/json.hpp>

#include "conformance/cases/inputs/sparse_values.h"
#include "prims/graph/text.h"

namespace primset::conformance {
namespace {

using nlohmann::json;

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

json tensor_json(const HostTensor& t) {
  json out = {{"dtype", name(t.dtype)}, {"sizes", t.sizes},           {"strides", t.strides},
              {"offset", t.offset},     {"storage", t.storage},       {"conj", t.conj},
              {"neg", t.neg},           {"wrapped", t.wrapped_number}};
  if (!t.is_sparse()) return out;
  out["layout"] = layout_name(t.layout);
  out["coalesced"] = t.coalesced;
  for (const HostTensor& part : t.parts) out["parts"].push_back(tensor_json(part));
  return out;
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
  json operator()(Layout v) { return {{"layout", layout_name(v)}}; }
  json operator()(MemoryFormat v) { return {{"memory_format", static_cast<int>(v)}}; }
  json operator()(DeviceUnderTest) { return {{"device", true}}; }
  json operator()(RngState v) { return {{"seed", v.seed}, {"offset", v.offset}}; }
  json operator()(OutTensor v) { return {{"out", static_cast<int>(v.kind)}}; }
};

json case_json(const SavedCase& saved) {
  const TestCase& test = saved.test;
  json j = {{"primset_case", kSavedCaseVersion},
            {"id", test.id.to_string()},
            {"seed", saved.seed},
            {"device", saved.device},
            {"verdict", saved.verdict},
            {"text", test.text},
            {"graph", test.graph ? prims::print(*test.graph) : saved.graph},
            {"may_be_refused", test.may_be_refused},
            {"expected", saved.expected}};
  for (Layout l : test.result_layouts) j["result_layouts"].push_back(layout_name(l));
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

}  // namespace primset::conformance
