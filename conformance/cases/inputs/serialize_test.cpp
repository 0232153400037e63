// Saved cases as they are read: whole, and changed by a fuzzer.
#include "conformance/cases/inputs/serialize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "conformance/cases/ids/few_cases.h"
#include "conformance/cases/inputs/check_case.h"
#include "conformance/cases/inputs/rng.h"
#include "conformance/cases/tables/recipe.h"
#include "conformance/reference/reference_device.h"
#include "conformance/runner/execute.h"
#include "specs/bundle/reader.h"

namespace primset::conformance {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

TEST(SavedCase, RoundTrip) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  for (const char* text : {"prim/reduce_sum:dtype=f16;case=last_dim;layout=strided",
                           "add.Tensor:dtype=c64;case=special", "to_dense:dtype=f16;case=bsr_batch",
                           "_sparse_compressed_tensor_with_dims:dtype=i8;case=bsc"}) {
    SavedCase saved{make_case(bundle, CaseId::parse(text), 3), 3, "cpu", "g", "e", "v"};
    SavedCase back = saved_case_from_json(to_json(saved));
    EXPECT_EQ(back.test.id.to_string(), text);
    EXPECT_EQ(back.test.storages, saved.test.storages);
    EXPECT_TRUE(back.test.args == saved.test.args);
    EXPECT_EQ(back.test.inputs, saved.test.inputs);
    EXPECT_EQ(back.seed, 3u);
    EXPECT_EQ(to_json(back), to_json(saved));
    const std::string line = to_json_line(saved);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_EQ(to_json(saved_case_from_json(line)), to_json(saved));
  }
  for (const char* text : {"", "{}", "[]", "{\"primset_case\": 2}"}) {
    EXPECT_THROW(saved_case_from_json(text), Error) << text;
  }
}

TEST(SavedCase, ArgumentsOfEveryKind) {
  TestCase test;
  test.id = CaseId::parse("add.Tensor:dtype=f32;case=x");
  test.args = {std::monostate{},
               TensorList{std::nullopt},
               Scalar(std::complex<double>(1, HUGE_VAL)),
               std::vector<Scalar>{Scalar(true), Scalar(2.5)},
               int64_t{-3},
               std::vector<int64_t>{1, 2},
               0.1,
               std::vector<double>{-0.0},
               true,
               std::vector<bool>{true, false},
               std::string("mode"),
               DType::bf16,
               Layout::strided,
               MemoryFormat::channels_last,
               DeviceUnderTest{},
               RngState{7, 9}};
  EXPECT_TRUE(saved_case_from_json(to_json({test, 0, "", "", "", ""})).test.args == test.args);
}

TEST(SavedCase, EveryCaseOfTheCatalogueFitsItsOperator) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  Selection s;
  s.tier = CaseTier::full;
  s.shards = 128;
  size_t cases = 0;
  for (const CaseId& id : select_cases(bundle, s)) {
    const TestCase test = make_case(bundle, id, 0);
    EXPECT_NO_THROW(check_case(bundle, test)) << id.to_string();
    size_t bytes = 0;
    for (const HostStorage& storage : test.storages) bytes += storage.size();
    if (++cases % 2 == 0 && bytes < (1 << 16)) {
      EXPECT_NO_THROW(saved_case_from_json(to_json_line({test, 0, "", "", "", ""})))
          << id.to_string();
    }
  }
  EXPECT_GT(cases, 1000u);
}

// The text of a saved case with one thing changed, and what reading it says.
std::string error_of(const std::function<void(json&)>& change,
                     const char* id = "add.Tensor:dtype=f32;case=special") {
  const specs::Bundle& bundle = specs::embedded_bundle();
  json j = json::parse(to_json({make_case(bundle, CaseId::parse(id), 0), 0, "cpu", "", "", ""}));
  change(j);
  try {
    check_case(bundle, saved_case_from_json(j.dump()).test);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::corrupt) << e.what();
    return e.what();
  }
  return "no error";
}

TEST(SavedCase, WhatIsWrongIsSaidWithItsPlace) {
  auto self = [](json& j) -> json& { return j["args"][0]["tensor"]; };
  EXPECT_EQ(error_of([](json&) {}), "no error");
  EXPECT_EQ(error_of([](json& j) { j.erase("seed"); }), "seed: found nothing; expected a value");
  EXPECT_THAT(
      error_of([&](json& j) { self(j)["offset"] = int64_t{1} << 62; }),
      HasSubstr("args[0].tensor: found elements outside of its storage; expected all within"));
  EXPECT_THAT(error_of([&](json& j) { self(j)["strides"][0] = INT64_MAX; }),
              HasSubstr("args[0].tensor: found elements outside"));
  EXPECT_THAT(error_of([&](json& j) { self(j)["sizes"][0] = -1; }),
              HasSubstr("args[0].tensor.sizes: found -1; expected no negative size"));
  EXPECT_THAT(error_of([&](json& j) { self(j)["sizes"] = json::array({1, 2, 3, 4, 5}); }),
              HasSubstr("args[0].tensor.strides: found"));
  EXPECT_THAT(error_of([&](json& j) { self(j)["storage"] = 99; }),
              HasSubstr("args[0].tensor.storage: found 99; expected 0 to"));
  EXPECT_THAT(error_of([&](json& j) { self(j)["sizes"][0] = 1e300; }),
              HasSubstr("args[0].tensor.sizes[0]: found 1e+300; expected an integer of 64 bits"));
  EXPECT_THAT(error_of([&](json& j) { self(j)["dtype"] = "f33"; }),
              HasSubstr("args[0].tensor.dtype: found \"f33\"; expected the name of a dtype"));
  EXPECT_THAT(error_of([](json& j) { j["args"].erase(2); }),
              HasSubstr("args: found 2; expected 3"));
  EXPECT_THAT(error_of([](json& j) { j["args"][1] = {{"int", 3}}; }),
              HasSubstr("args[1]: found int; expected Tensor for 'other' of "));
  EXPECT_THAT(error_of([](json& j) { j["args"][2]["scalar"]["kind"] = 7; }),
              HasSubstr("args[2].scalar.kind: found 7; expected 0 to 3"));
  EXPECT_THAT(error_of([](json& j) { j["id"] = "nonesuch:dtype=f32;case=a"; }),
              HasSubstr("id: found nonesuch; expected the name of an operator"));
  EXPECT_THAT(error_of([](json& j) { j["storages"][0] = "0g"; }),
              HasSubstr("storages[0]: found 'g'; expected hexadecimal digits"));
}

TEST(SavedCase, AGraphIsVerifiedAgainstItsInputs) {
  const char* id = "prim/neg:dtype=f32;case=vector";
  EXPECT_EQ(error_of([](json&) {}, id), "no error");
  EXPECT_THAT(error_of([](json& j) { j["graph"] = "graph("; }, id), HasSubstr("graph: found"));
  EXPECT_THAT(
      error_of(
          [](json& j) { j["graph"] = "graph(%0 x: f32[4]) { %1: f32[5] = neg(%0) return %1 y }"; },
          id),
      HasSubstr("%1 is f32[5], expected f32[4]"));
  EXPECT_THAT(
      error_of(
          [](json& j) { j["graph"] = "graph(%0 x: f32[4]) { %1: f32[4] = neg(%0) return %1 y }"; },
          id),
      AllOf(HasSubstr("inputs[0]: found f32["), HasSubstr("expected f32[4], as the graph has")));
  EXPECT_THAT(error_of([](json& j) { j["inputs"] = json::array(); }, id),
              HasSubstr("inputs: found 0; expected 1, as the graph has"));
}

TEST(SavedCase, DeepNestingIsNoCrash) {
  for (const char* open : {"[", "{\"args\":"}) {
    std::string deep;
    for (int i = 0; i < 200000; ++i) deep += open;
    EXPECT_THROW(saved_case_from_json(deep), Error);
  }
  std::string closed(200000, '[');
  closed.append(200000, ']');
  EXPECT_THROW(saved_case_from_json("{\"primset_case\":1,\"seed\":" + closed + "}"), Error);
}

// --- Fuzzing -------------------------------------------------------------------------------------

// Numbers that overflow, wrap around or mean something else.
json hostile(Rng& rng) {
  const json kValues[] = {
      0,         1,          -1,          2,          255,   65536,         INT32_MAX,
      INT32_MIN, INT64_MAX,  INT64_MIN,   UINT64_MAX, 1e300, -0.5,          1ull << 40,
      -7,        1ull << 62, "x",         nullptr,    true,  json::array(), json::object(),
      "nan",     "f64",      "-0x1p-1074"};
  return kValues[rng.below(std::size(kValues))];
}

// Some place in the document.
json& some_place(json& root, Rng& rng) {
  json* at = &root;
  while (at->is_structured() && !at->empty() && rng.below(6) != 0) {
    auto it = at->begin();
    std::advance(it, static_cast<std::ptrdiff_t>(rng.below(at->size())));
    at = &*it;
  }
  return *at;
}

void change_structure(json& root, Rng& rng) {
  json& place = some_place(root, rng);
  switch (rng.below(5)) {
    case 0:
      if (place.is_object() && !place.empty()) {
        auto it = place.begin();
        std::advance(it, static_cast<std::ptrdiff_t>(rng.below(place.size())));
        place.erase(it);
        return;
      }
      [[fallthrough]];
    case 1:
      if (place.is_array() && !place.empty()) {
        place.erase(rng.below(place.size()));
        return;
      }
      [[fallthrough]];
    case 2:
      if (place.is_array()) {
        place.push_back(hostile(rng));
        return;
      }
      [[fallthrough]];
    case 3: {
      const json other = some_place(root, rng);
      some_place(root, rng) = other;
      return;
    }
    default:
      place = hostile(rng);
  }
}

std::string mutated(const std::string& text, Rng& rng) {
  if (rng.below(4) == 0) {  // bytes
    std::string out = text;
    for (uint64_t n = 1 + rng.below(4); n > 0; --n)
      out[rng.below(out.size())] = static_cast<char>(rng.below(256));
    if (rng.below(8) == 0) out.resize(rng.below(out.size()));
    return out;
  }
  json root = json::parse(text);
  for (uint64_t n = 1 + rng.below(2); n > 0; --n) change_structure(root, rng);
  if (!root.is_object()) return root.dump();
  // Digits of the graph's text, too.
  if (rng.below(3) == 0 && root.contains("graph") && root["graph"].is_string()) {
    auto& graph = root["graph"].get_ref<std::string&>();
    if (!graph.empty()) graph[rng.below(graph.size())] = "0123456789-,()[]%f"[rng.below(18)];
  }
  return root.dump(-1, ' ', false, json::error_handler_t::replace);
}

// In a process of its own, as `primset conform --replay` does it: how it ended.
// A sanitizer's shadow memory does not fit the limit below.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kMemoryIsLimited = false;
#else
constexpr bool kMemoryIsLimited = true;
#endif

int status_of_run(const specs::Bundle& bundle, const TestCase& test) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit memory{rlim_t{2} << 30, rlim_t{2} << 30};
    setrlimit(RLIMIT_AS, &memory);
    alarm(20);
    try {
      ReferenceDevice device(bundle);
      run_case(bundle, test, device);
    } catch (const Error& e) {  // a verdict: the case is a mistake
      if (e.code() == ErrorCode::internal) std::fprintf(stderr, "%s\n", e.what());
      _exit(e.code() == ErrorCode::internal ? 1 : 0);
    } catch (const std::bad_alloc&) {
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      _exit(2);
    }
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(SavedCase, ChangedAtRandomItIsCorruptOrRuns) {
  const specs::Bundle& bundle = specs::embedded_bundle();
  Rng rng(17);
  size_t refused = 0, ran = 0, slow = 0;
  for (const char* id :
       {"add.Tensor:dtype=f32;case=special", "cat:dtype=f32;case=two",
        "index_put_:dtype=f32;case=accumulate", "as_strided:dtype=f32;case=overlap",
        "prim/reduce_sum:dtype=f16;case=last_dim;layout=strided",
        "prim/gather:dtype=f32;case=points", "prim/reduce:dtype=f32;case=sum"}) {
    const std::string text =
        to_json({make_case(bundle, CaseId::parse(id), 3), 3, "cpu", "g", "e", "v"});
    for (int i = 0; i < 350; ++i) {
      const std::string changed = mutated(text, rng);
      try {
        const SavedCase saved = saved_case_from_json(changed);
        check_case(bundle, saved.test);
        ++ran;
        if (!kMemoryIsLimited) continue;
        const int status = status_of_run(bundle, saved.test);
        const bool timeout = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        slow += timeout;
        EXPECT_TRUE(timeout || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
            << "status " << status << " of " << changed;
      } catch (const Error& e) {
        ++refused;
        EXPECT_EQ(e.code(), ErrorCode::corrupt) << e.what() << "\n" << changed;
      }
    }
  }
  EXPECT_EQ(slow, 0u);
  EXPECT_GT(refused, 500u);
  EXPECT_GT(ran, 100u);
}

}  // namespace
}  // namespace primset::conformance
