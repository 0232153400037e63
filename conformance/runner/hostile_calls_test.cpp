// Every operator is called with something else in the place of each argument: numbers, nothing,
// empty lists, text. The answer is a result or an error that a caller can act on.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <primset/invoke.h>
#include <primset/options.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <map>

#include "conformance/cases/tables/recipe.h"
#include "sdk/runtime/call/operator_info.h"
#include "sdk/runtime/tensor/sparse_tensor.h"

namespace primset::conformance {
namespace {

// What is being called, for the last words of a crash.
char g_current[512];

void say_current(int signal) {
  const ssize_t ignored = write(STDERR_FILENO, g_current, std::strlen(g_current));
  (void)ignored;
  std::signal(signal, SIG_DFL);
  raise(signal);
}

// A tensor of the case, copied: what is written does not reach the next call.
Tensor tensor_of(const TestCase& test, const HostTensor& t) {
  if (t.is_sparse()) {
    runtime::SparseParts parts;
    parts.layout = t.layout;
    parts.coalesced = t.coalesced;
    const bool coo = t.layout == Layout::sparse_coo;
    (coo ? parts.indices : parts.compressed) = tensor_of(test, t.parts[0]);
    if (!coo) parts.plain = tensor_of(test, t.parts[1]);
    parts.values = tensor_of(test, t.parts.back());
    return runtime::make_sparse(std::move(parts), t.sizes);
  }
  const std::vector<std::byte> bytes = packed_bytes(test.storages.at(t.storage), t);
  return Tensor::from_host(bytes.data(), t.sizes, t.dtype, Device("cpu"));
}

struct AsValue {
  const TestCase& test;
  Value operator()(std::monostate) const { return {}; }
  Value operator()(const HostTensor& t) const { return tensor_of(test, t); }
  Value operator()(const TensorList& list) const {
    std::vector<Tensor> out;
    for (const auto& t : list) out.push_back(t ? tensor_of(test, *t) : Tensor());
    return out;
  }
  Value operator()(DeviceUnderTest) const { return Device("cpu"); }
  Value operator()(RngState s) const { return Generator(s.seed); }
  Value operator()(OutTensor) const { return {}; }
  template <typename T>
  Value operator()(const T& v) const {
    return v;
  }
};

constexpr float kNumber = 2.5f;
constexpr const char* kGreatest = "the greatest integer";

const std::vector<std::pair<const char*, Value>>& hostile_values() {
  static const Tensor none, rank0 = Tensor::from_host(&kNumber, {}, DType::f32, Device("cpu")),
                            empty = Tensor::empty({0}, DType::i64, Device("cpu"));
  static const std::vector<std::pair<const char*, Value>> values = {
      {"none", {}},
      {"an undefined tensor", none},
      {"a tensor of rank 0", rank0},
      {"an empty tensor", empty},
      {"-1", -1},
      {"5", 5},
      {"the least integer", INT64_MIN},
      {kGreatest, INT64_MAX},
      {"2.5", 2.5},
      {"NaN", Scalar(NAN)},
      {"a complex number", Scalar(std::complex<double>(1, 2))},
      {"true", true},
      {"an empty text", ""},
      {"a text", "x\x1b[31m\xff"},
      {"an empty list of integers", std::vector<int64_t>{}},
      {"integers", std::vector<int64_t>{1, -2}},
      {"the least integers", std::vector<int64_t>{INT64_MIN, INT64_MIN}},
      {"the greatest integers", std::vector<int64_t>{INT64_MAX, INT64_MAX}},
      {"integers whose product is 2^64", std::vector<int64_t>{int64_t{1} << 32, int64_t{1} << 32}},
      {"an empty list of tensors", std::vector<Tensor>{}},
      {"a list of an undefined tensor", std::vector<Tensor>{none}},
      {"a list of two kinds of tensors", std::vector<Tensor>{rank0, empty}},
      {"an empty list of numbers", std::vector<Scalar>{}},
      {"no flags", std::vector<bool>{}},
      {"a dtype", DType::c64},
      {"a layout", Layout::sparse_csr},
      {"a memory format", MemoryFormat::channels_last_3d},
      {"a device", Device("cpu")},
      {"a generator", Generator(3)}};
  return values;
}

struct Call {
  std::vector<Value> positional;
  std::vector<NamedValue> named;
};

Call call_of(const specs::Overload& overload, const TestCase& test, size_t changed,
             const Value& value) {
  Call out;
  for (size_t i = 0; i < test.args.size(); ++i) {
    const specs::Argument& a = overload.args[i];
    Value v = i == changed ? value : std::visit(AsValue{test}, test.args[i]);
    if (a.kind == specs::ArgKind::storage && v.is<Tensor>() && v.tensor().defined())
      v = v.tensor().storage();
    if (a.keyword_only || a.is_out)
      out.named.push_back({a.name, std::move(v)});
    else
      out.positional.push_back(std::move(v));
  }
  return out;
}

// Empty where the call is taken, or refused with a reason.
std::string mistake(const specs::Overload& overload, const Call& call) {
  try {
    Operator(overload.qualified).invoke(call.positional, call.named);
  } catch (const Error& e) {
    return e.code() == ErrorCode::internal ? e.what() : "";
  } catch (const std::exception& e) {
    return fmt::format("an exception of the standard library: {}", e.what());
  }
  return "";
}

std::optional<TestCase> first_case(const specs::Bundle& bundle, const specs::Overload& overload) {
  const std::vector<DType> dtypes = operator_dtypes(bundle, overload);
  for (const DType t : dtypes) {
    if (t != DType::f32 && t != dtypes.back()) continue;
    const std::vector<Recipe> recipes = operator_recipes(bundle, overload, t);
    if (recipes.empty()) continue;
    return make_case(bundle,
                     CaseId{Level::op, overload.qualified, t, recipes[0].name,
                            std::string(kLayoutNames[static_cast<size_t>(recipes[0].layout)])},
                     0);
  }
  return std::nullopt;
}

// A recurrence of n steps, here as in ATen, is not tried with 2^63 - 1 of them.
bool takes_as_many_steps(const specs::Overload& overload, const specs::Argument& a) {
  return a.name == "n" && overload.qualified.find("_polynomial_") != std::string::npos;
}

class HostileCalls : public testing::TestWithParam<uint32_t> {};
constexpr uint32_t kShards = 4;
INSTANTIATE_TEST_SUITE_P(, HostileCalls, testing::Range(0u, kShards));

TEST_P(HostileCalls, AreRefusedOrTaken) {
  for (const int s : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGTERM}) std::signal(s, say_current);
  set_log([](LogLevel, std::string_view) {});  // out= tensors are resized throughout
  const specs::Bundle& bundle = runtime::OperatorRegistry::instance().bundle();
  std::map<std::string, std::string> mistakes;
  size_t calls = 0;
  for (uint32_t n = 0; n < bundle.overloads.size(); ++n) {
    const specs::Overload& overload = bundle.overloads[n];
    if (n % kShards != GetParam() || overload.status != specs::Status::implemented) continue;
    const std::optional<TestCase> test = first_case(bundle, overload);
    if (!test) continue;
    for (size_t i = 0; i < test->args.size(); ++i) {
      for (const auto& [what, value] : hostile_values()) {
        if (what == kGreatest && takes_as_many_steps(overload, overload.args[i])) continue;
        std::string how =
            fmt::format("{}: {} as '{}'", overload.qualified, what, overload.args[i].name);
        std::snprintf(g_current, sizeof(g_current), "\n%s\n", how.c_str());
        const std::string wrong = mistake(overload, call_of(overload, *test, i, value));
        ++calls;
        if (!wrong.empty()) mistakes.emplace(std::move(how), wrong);
      }
    }
  }
  EXPECT_GT(calls, 20'000u);
  for (const auto& [how, wrong] : mistakes) ADD_FAILURE() << how << "\n    " << wrong;
}

TEST(UndefinedTensors, AreRefusedWithTheirPlace) {
  const Tensor one = Tensor::from_host(&kNumber, {1}, DType::f32, Device("cpu"));
  for (const char* op : {"cat", "stack", "block_diag", "cartesian_prod", "_foreach_neg"}) {
    try {
      invoke(op, {std::vector<Tensor>{one, Tensor()}});
      ADD_FAILURE() << op;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::type);
      EXPECT_NE(std::string(e.what()).find("for element 1"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace primset::conformance
