#include "conformance/runner/results/result.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace primset::conformance {
namespace {

using nlohmann::json;

constexpr double kMostSeconds = 1e8;

// JSON has no infinities; an error can be infinite.
json number(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  return v;
}

double number(const json& object, const char* key) {
  auto it = object.find(key);
  if (it == object.end()) return 0;
  if (it->is_number()) return it->get<double>();
  if (*it == "inf") return HUGE_VAL;
  return *it == "-inf" ? -HUGE_VAL : std::nan("");
}

std::string text(const json& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

uint64_t count(const json& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && it->is_number_unsigned() ? it->get<uint64_t>() : 0;
}

bool is_true(const json& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && it->is_boolean() && it->get<bool>();
}

json to_json(const Resized& r) {
  json o = {{"text", r.text}, {"kernels", r.kernels}};
  if (r.unexplained) o["unexplained"] = r.unexplained;
  if (!r.guards.empty()) o["guards"] = r.guards;
  return o;
}

std::optional<Resized> resized_of(const json& object) {
  auto it = object.find("resized");
  if (it == object.end() || !it->is_object()) return std::nullopt;
  Resized r{text(*it, "text"), count(*it, "kernels"), count(*it, "unexplained"), {}};
  for (const json& guard : it->value("guards", json::array())) {
    if (guard.is_string()) r.guards.push_back(guard.get<std::string>());
  }
  return r;
}

// Text of drivers and plugins need not be UTF-8.
std::string dump(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string to_json_line(const CaseResult& r) {
  json o = {{"id", r.id}, {"outcome", to_string(r.verdict.outcome, r.verdict.kind)}};
  if (!r.verdict.detail.empty()) o["detail"] = r.verdict.detail;
  if (r.verdict.max_ulp != 0) o["max_ulp"] = number(r.verdict.max_ulp);
  if (r.verdict.max_share != 0) o["max_share"] = number(r.verdict.max_share);
  if (r.verdict.elements) o["elements"] = r.verdict.elements;
  if (r.verdict.outcome == Outcome::pass && !r.verdict.elements) o["empty"] = r.verdict.empty;
  if (r.verdict.undecided) o["undecided"] = r.verdict.undecided;
  if (r.verdict.native_ratio != 0) o["native_ratio"] = number(r.verdict.native_ratio);
  if (const double us = std::round(r.seconds * 1e6); us > 0) o["seconds"] = us / 1e6;
  if (!r.replay.empty()) o["replay"] = r.replay;
  if (!r.expectation.empty()) o["expectation"] = r.expectation;
  if (r.resized) o["resized"] = to_json(*r.resized);
  return dump(o);
}

namespace {

std::optional<CaseResult> result_of(const json& o) {
  if (!o.is_object()) return std::nullopt;
  std::optional<OutcomeText> outcome = parse_outcome(text(o, "outcome"));
  CaseResult r;
  r.id = text(o, "id");
  if (!outcome || r.id.empty()) return std::nullopt;
  r.verdict.outcome = outcome->outcome;
  r.verdict.kind = outcome->kind;
  r.verdict.detail = text(o, "detail");
  r.verdict.max_ulp = number(o, "max_ulp");
  r.verdict.max_share = number(o, "max_share");
  r.verdict.elements = count(o, "elements");
  r.verdict.undecided = count(o, "undecided");
  r.verdict.empty = is_true(o, "empty");
  r.verdict.native_ratio = number(o, "native_ratio");
  // No case takes years, whatever a damaged line says.
  if (const double s = number(o, "seconds"); s > 0 && s < kMostSeconds) r.seconds = s;
  r.replay = text(o, "replay");
  r.expectation = text(o, "expectation");
  r.resized = resized_of(o);
  return r;
}

}  // namespace

std::optional<CaseResult> parse_json_line(std::string_view line) {
  return result_of(json::parse(line, nullptr, false));
}

std::optional<CaseResult> parse_kept_line(std::string_view line) {
  const json o = json::parse(line, nullptr, false);
  std::optional<CaseResult> r = result_of(o);
  if (!r || r->verdict.outcome != Outcome::pass) return r;
  if (!r->verdict.detail.empty()) {
    r->verdict.outcome = Outcome::refused;
  } else if (r->verdict.elements == 0 && !o.contains("empty")) {
    return std::nullopt;
  }
  return r;
}

std::string begin_line(std::string_view id) {
  return dump(json{{"begin", id}});
}

std::optional<std::string> parse_begin_line(std::string_view line) {
  json o = json::parse(line, nullptr, false);
  if (!o.is_object() || !o.contains("begin") || !o["begin"].is_string()) return std::nullopt;
  return o["begin"].get<std::string>();
}

}  // namespace primset::conformance
