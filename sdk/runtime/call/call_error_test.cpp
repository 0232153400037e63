// What errors say to a C++ caller. The Python tests have the long table (sdk/python/tests).
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "primset/detail/call.h"
#include "primset/graph.h"
#include "primset/invoke.h"

namespace primset {
namespace {

std::string text_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

Tensor ones(const std::vector<int64_t>& sizes) {
  return invoke("ones", {sizes}, {{"device", Device::cpu()}})[0].tensor();
}

TEST(CallError, NamesOperatorArgumentAndWhatWasGiven) {
  const Tensor a = ones({4, 5});
  EXPECT_EQ(
      text_of([&] { invoke("softmax.int", {a, 3}); }),
      "softmax.int: Dimension out of range (expected to be in range of [-2, 1], but got 3) in "
      "argument 'dim'\n  in softmax.int(self=f32[4, 5], dim=3)");
  EXPECT_EQ(
      text_of([&] { invoke("add", {ones({3, 4}), ones({5})}); }),
      "add.Tensor: The size of tensor a (4) must match the size of tensor b (5) at "
      "non-singleton dimension 1; 'self' has shape [3, 4] and 'other' has shape [5]; expected "
      "sizes that are equal or 1, counted from the last dimension\n"
      "  in add.Tensor(self=f32[3, 4], other=f32[5])");
}

TEST(CallError, SaysWhichLayoutIsSparse) {
  const Tensor sparse = invoke("to_sparse", {ones({3, 4})})[0].tensor();
  EXPECT_EQ(text_of([&] { invoke("add.Tensor", {sparse, ones({3, 4})}); }),
            "add.Tensor: add(sparse, dense) is not supported. Use add(dense, sparse) instead.\n"
            "  in add.Tensor(self=sparse_coo f32[3, 4], other=f32[3, 4])");
}

TEST(CallError, IsTheSameOfUnboxedCalls) {
  static const detail::Op op("softmax.int");
  const Tensor a = ones({4, 5});
  const detail::Arg args[] = {a, int64_t{3}, std::nullopt};
  EXPECT_EQ(text_of([&] { detail::call_tensor(op, args); }),
            text_of([&] { invoke("softmax.int", {a, 3}); }));
}

// The operator that was called is named, not one that it needs.
TEST(CallError, IsTheOuterCalls) {
  const Tensor a = ones({2}), out = ones({2});
  const Tensor conj =
      invoke("conj", {invoke("zeros", {std::vector<int64_t>{3}},
                             {{"dtype", DType::c64}, {"device", Device::cpu()}})[0]})[0]
          .tensor();
  const std::string text = text_of([&] { invoke("add_.Tensor", {conj, a}); });
  EXPECT_TRUE(text.starts_with("add_.Tensor: ")) << text;
  EXPECT_NE(text.find("\n  in add_.Tensor("), std::string::npos) << text;
}

TEST(CallError, OfACaptureNamesTheCall) {
  const Tensor a = ones({4, 5});
  const std::string text = text_of([&] {
    Graph::capture({a}, [](std::span<const Tensor> in) {
      return std::vector<Tensor>{invoke("softmax.int", {in[0], 3})[0].tensor()};
    });
  });
  EXPECT_TRUE(text.starts_with("softmax.int: Dimension out of range")) << text;
}

TEST(CallError, OfArgumentsThatNoOverloadTakes) {
  const Tensor a = ones({4, 5});
  EXPECT_EQ(text_of([&] { invoke("softmax.int", {a}, {{"dmi", 1}}); }),
            "softmax.int: Unknown keyword argument 'dmi' (did you mean 'dim'?)\n"
            "  in softmax.int(Tensor, dmi=int)\n"
            "  expected softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor");
  EXPECT_EQ(text_of([&] { invoke("sofmax", {a}); }),
            "no operator is called 'sofmax' (did you mean 'softmax'?); `primset ops` lists them");
}

TEST(CallError, TextOfOthersIsMadePrintable) {
  const Tensor a = ones({4, 5});
  const std::string text =
      text_of([&] { invoke("gelu", {a}, {{"approximate", "\x1b[2J" + std::string(500, 'x')}}); });
  EXPECT_NE(text.find("approximate='\\x1b[2J"), std::string::npos) << text;
}

}  // namespace
}  // namespace primset
