// Expected answers: torch.full((1,), number, dtype=dtype), PyTorch 2.13.
#include "sdk/base/number_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "primset/error.h"

namespace primset {
namespace {

struct Row {
  DType dtype;
  Scalar number;
  bool fits;
};

constexpr double kInf = std::numeric_limits<double>::infinity();
const Scalar kImaginary(std::complex<double>(0, 1)), kReal(std::complex<double>(1, 0));

const Row kRows[] = {
    {DType::i8, Scalar(127), true},
    {DType::i8, Scalar(128), false},
    {DType::i8, Scalar(-128), true},
    {DType::i8, Scalar(-129), false},
    {DType::i8, Scalar(2.7), true},
    {DType::i8, Scalar(127.5), false},
    {DType::i8, Scalar(NAN), false},
    {DType::i8, Scalar(kInf), false},
    {DType::i8, Scalar(true), true},
    {DType::i8, kImaginary, false},
    {DType::i8, kReal, true},
    {DType::u8, Scalar(255), true},
    {DType::u8, Scalar(256), false},
    {DType::u8, Scalar(-255), true},
    {DType::u8, Scalar(-256), false},
    {DType::u8, Scalar(-0.5), false},
    {DType::i64, Scalar(1e10), true},
    {DType::i64, Scalar(1e300), false},
    {DType::i64, Scalar(0x1p63), false},
    {DType::i64, Scalar(-0x1p63), true},
    {DType::f16, Scalar(65504.0), true},
    {DType::f16, Scalar(70000.0), false},
    {DType::f16, Scalar(kInf), true},
    {DType::f16, Scalar(NAN), true},
    {DType::f32, Scalar(1e300), false},
    {DType::f64, Scalar(1e300), true},
    {DType::f8_e4m3fn, Scalar(448), true},
    {DType::f8_e4m3fn, Scalar(kInf), false},
    {DType::boolean, Scalar(NAN), true},
    {DType::boolean, kImaginary, true},
    {DType::c64, kImaginary, true},
    {DType::c64, Scalar(1e300), false},
};

TEST(NumberFit, AsATenConverts) {
  for (const Row& row : kRows)
    EXPECT_EQ(fits(row.number, row.dtype), row.fits)
        << name(row.dtype) << " " << row.number.to_double();
}

std::string refusal(const Scalar& number, DType dtype) {
  try {
    require_fits(number, dtype);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(NumberFit, IsRefusedInItsWords) {
  EXPECT_EQ(refusal(300, DType::i8), "value cannot be converted to type int8_t without overflow");
  EXPECT_EQ(refusal(1e9, DType::f16),
            "value cannot be converted to type c10::Half without overflow");
  EXPECT_EQ(refusal(kImaginary, DType::f32),
            "value cannot be converted to type float without overflow");
  EXPECT_EQ(refusal(3, DType::i8), "");
}

}  // namespace
}  // namespace primset
