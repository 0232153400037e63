#include "conformance/cases/inputs/invalid_calls.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace primset::conformance {
namespace {

template <typename T>
struct Invalid {
  const char* how;
  T value;
};

// Each has another rank, dtype or size; the memory stays what it was.
std::vector<Invalid<HostTensor>> invalid_values(const HostTensor& t) {
  std::vector<Invalid<HostTensor>> out;
  if (t.is_sparse()) return out;  // its parts would have to change with it
  const auto add = [&](const char* how, const auto& change) {
    HostTensor changed = t;
    changed.wrapped_number = false;
    change(changed);
    out.push_back({how, std::move(changed)});
  };
  add("a dim more", [](HostTensor& x) {
    x.sizes.insert(x.sizes.begin(), 2);
    x.strides.insert(x.strides.begin(), 0);
  });
  add("five dims more", [](HostTensor& x) {
    x.sizes.insert(x.sizes.end(), 5, 1);
    x.strides.insert(x.strides.end(), 5, 1);
  });
  add("without dims", [](HostTensor& x) { x.sizes = x.strides = {}; });
  for (DType other : {DType::f32, DType::f64, DType::i64, DType::boolean, DType::c64, DType::u16})
    if (other != t.dtype) add("of another dtype", [&](HostTensor& x) { x.dtype = other; });
  if (t.sizes.empty()) return out;
  add("a dim fewer", [](HostTensor& x) {
    x.sizes.erase(x.sizes.begin());
    x.strides.erase(x.strides.begin());
  });
  add("first dim longer", [](HostTensor& x) { ++x.sizes.front(); });
  add("last dim longer", [](HostTensor& x) { x.sizes.back() += 3; });
  add("first dim empty", [](HostTensor& x) { x.sizes.front() = 0; });
  add("last dim empty", [](HostTensor& x) { x.sizes.back() = 0; });
  add("last dim 1", [](HostTensor& x) { x.sizes.back() = 1; });
  return out;
}

std::vector<Invalid<TensorList>> invalid_values(const TensorList& list) {
  std::vector<Invalid<TensorList>> out = {{"an empty list", {}}};
  if (list.empty()) return out;
  out.push_back({"one tensor fewer", {list.begin(), list.end() - 1}});
  if (!list.front()) return out;
  for (const Invalid<HostTensor>& m : invalid_values(*list.front())) {
    TensorList changed = list;
    changed.front() = m.value;
    out.push_back({m.how, std::move(changed)});
  }
  return out;
}

std::vector<Invalid<int64_t>> invalid_values(int64_t) {
  return {{"-1000", -1000}, {"-1", -1}, {"0", 0}, {"7", 7}, {"1000", 1000}};
}

std::vector<Invalid<double>> invalid_values(double) {
  return {{"-1.5", -1.5}, {"0", 0}, {"NaN", std::nan("")}, {"infinity", HUGE_VAL}};
}

std::vector<Invalid<Scalar>> invalid_values(const Scalar&) {
  return {{"a complex number", Scalar(std::complex<double>(1, 2))},
          {"-3", Scalar(int64_t{-3})},
          {"0", Scalar(int64_t{0})},
          {"NaN", Scalar(std::nan(""))},
          {"true", Scalar(true)}};
}

std::vector<Invalid<bool>> invalid_values(bool x) {
  return {{"the other", !x}};
}

std::vector<Invalid<std::string>> invalid_values(const std::string&) {
  return {{"another word", "misuse"}, {"no word", ""}};
}

std::vector<Invalid<DType>> invalid_values(DType) {
  return {{"bool", DType::boolean}, {"i64", DType::i64}, {"c64", DType::c64}, {"f32", DType::f32}};
}

template <typename T>
std::vector<Invalid<std::vector<T>>> invalid_values(const std::vector<T>& list) {
  std::vector<Invalid<std::vector<T>>> out = {{"an empty list", {}}};
  if (list.empty()) return out;
  out.push_back({"one entry fewer", {list.begin(), list.end() - 1}});
  std::vector<T> more = list;
  more.push_back(list.back());
  out.push_back({"one entry more", std::move(more)});
  for (const auto& m : invalid_values(T(list.front()))) {
    std::vector<T> changed = list;
    changed.front() = m.value;
    out.push_back({m.how, changed});
    changed = list;
    changed.back() = m.value;
    out.push_back({m.how, std::move(changed)});
  }
  return out;
}

}  // namespace

void for_each_invalid_call(const specs::Overload& overload, const TestCase& test,
                           const std::function<void(const TestCase&, const std::string&)>& use) {
  for (size_t i = 0; i < test.args.size(); ++i) {
    const auto try_all = [&](const auto& variants) {
      for (const auto& m : variants) {
        TestCase changed = test;
        changed.args[i] = m.value;
        use(changed, fmt::format("{}: {}", overload.args[i].name, m.how));
      }
    };
    std::visit(
        [&](const auto& value) {
          if constexpr (requires { invalid_values(value); }) try_all(invalid_values(value));
        },
        test.args[i]);
  }
}

}  // namespace primset::conformance
