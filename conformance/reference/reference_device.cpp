#include "conformance/reference/reference_device.h"

#include <cstring>

#include "prims/reference/array.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;

ActualTensor to_actual(const ExpectedTensor& e) {
  ActualTensor a;
  a.origin = e.origin;
  a.argument = e.argument;
  a.dtype = e.dtype;
  a.sizes = e.sizes;
  a.strides = e.strides.value_or(ref::row_major_strides(e.sizes));
  a.offset = e.offset.value_or(0);
  a.conj = e.conj;
  a.layout = e.layout;  // without parts, since there are many that mean these values
  a.neg = e.neg;
  if (e.values) a.values = ref::to_bytes(*e.values);
  return a;
}

// Writes the values where the tensor's elements lie.
void store(std::vector<HostStorage>& storages, const HostTensor& t, const Array& values) {
  if (values.shape != t.sizes || values.dtype != t.dtype) return;  // cast or resized on its way
  size_t size = byte_size(t.dtype);
  std::vector<std::byte> bytes = ref::to_bytes(values);
  HostStorage& storage = storages.at(t.storage);
  // An out= tensor that grew.
  if (!lies_within(t, storage.size())) {
    const std::optional<size_t> needed = bytes_needed(t);
    if (!needed) throw Error(ErrorCode::runtime, "a result lies outside of any storage");
    storage.resize(*needed);
  }
  ref::for_each_index(t.sizes, [&](const std::vector<int64_t>& index, size_t at) {
    int64_t target = t.offset;
    for (size_t d = 0; d < index.size(); ++d) target += index[d] * t.strides[d];
    std::memcpy(storage.data() + static_cast<size_t>(target) * size, bytes.data() + at * size,
                size);
  });
}

}  // namespace

ReferenceDevice::ReferenceDevice(const specs::Bundle& bundle, GraphHook hook)
    : bundle_(bundle), hook_(std::move(hook)) {
  claims_.name = "reference";
  claims_.title = "the reference interpreter";
  claims_.dtypes = DTypeSet(~uint64_t{0});
  claims_.keeps_state = false;
}

Execution ReferenceDevice::run(const TestCase& test) {
  Execution out;
  try {
    Expected e = evaluate(bundle_, test, claims_.traits, hook_);
    out.error = e.error;
    out.storages = test.storages;
    for (const ExpectedTensor& r : e.results) out.results.push_back(to_actual(r));
    for (const WrittenTensor& w : e.written) {
      if (w.values) store(out.storages, w.tensor, *w.values);
    }
  } catch (const Error& error) {
    out.error = CaughtError{error.code(), error.what()};
  } catch (const std::exception& error) {
    // A mutant that the verifier lets pass may do what no graph of ours does.
    out.error = CaughtError{ErrorCode::internal, error.what()};
  }
  return out;
}

}  // namespace primset::conformance
