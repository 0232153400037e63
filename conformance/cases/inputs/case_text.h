// Cases are written as text, in tables and by generators; this is the language.
//
//   self=T[4,1,3]{special} other=f32[1,5,1]@transposed alpha=2.5 dim=[0,-1] mode="trunc" !index
//
//   T, R, C, A    the dtype of the case, the real and the complex dtype that go with it, and the
//   one
//                 that sums of it are carried in
//   @layout       this tensor's layout; others have the case's
//   {fill}        how it is filled: see Fill
//   &self         the very same tensor as another argument
//   coo(T[3,4])   a tensor of a sparse layout: sparse_text.h
//   wrapped(2.5)  a Scalar where a tensor is expected
//   (a, b, none)  a list of tensors
//   rng(7,3)      a generator with this seed and offset
//   out, out@strided, out@empty    what an out= argument gets: tensors that fit the results
//   out:f64       the same of another dtype
//   ->strided     of a call with sparse tensors: the layouts of its results, where they are not
//   that
//                 of the first of these; ->coo,strided of several
//   !index        the call must be refused with this class of error
//
// Arguments that a text leaves out have the schema's default.
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_CASE_TEXT_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_CASE_TEXT_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/inputs/case.h"
#include "conformance/cases/inputs/rng.h"
#include "conformance/cases/inputs/sparse_text.h"
#include "specs/bundle/schema.h"

namespace primset::conformance {

struct TextItem {
  std::string name, value;
};

struct CaseText {
  std::vector<TextItem> items;
  std::optional<ErrorCode> expected_error;
  std::vector<Layout> result_layouts;

  // Throws Error{value} with the place in the text.
  static CaseText parse(std::string_view text);
  const std::string* find(std::string_view name) const;
};

// Splits at `separator` where no bracket or quote is open; trims spaces. "" gives nothing.
std::vector<std::string> split_outside_brackets(std::string_view text, char separator);

// Turns the values of a text into arguments; tensors are filled and laid out.
class ValueReader {
 public:
  ValueReader(DType dtype, LayoutKind layout, Rng& rng, std::vector<HostStorage>& storages)
      : dtype_(dtype), layout_(layout), rng_(rng), storages_(storages) {}

  // `name` is what &name of later arguments refers to.
  ArgValue read(specs::ArgKind kind, const std::string& name, std::string_view text);
  HostTensor tensor(std::string_view text);
  TensorList tensors(std::string_view text);

  DType dtype_of(std::string_view text) const;  // "T", "R", "C", "f32"

 private:
  OutTensor read_out(std::string_view text) const;
  HostTensor wrapped_number(std::string_view number);
  FilledTensor read_filled(std::string_view text) const;

  DType dtype_;
  LayoutKind layout_;
  Rng& rng_;
  std::vector<HostStorage>& storages_;
  std::map<std::string, HostTensor, std::less<>> named_;
};

// Numbers and lists of the language. All throw Error{value} for text that is none.
int64_t read_integer(std::string_view text);
double read_number(std::string_view text);
bool read_boolean(std::string_view text);
std::string read_string(std::string_view text);             // with or without quotes
Scalar read_scalar(std::string_view text);                  // 3, 2.5, true, 1+2j
std::vector<int64_t> read_integers(std::string_view text);  // [1,2]; 3 is [3]
std::vector<std::string> read_list(std::string_view text);  // [a,b]
ErrorCode read_error_code(std::string_view text);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_CASE_TEXT_H_
