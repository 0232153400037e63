#include "prims/reference/array.h"

#include <algorithm>
#include <cstring>

#include "prims/reference/float_format.h"
#include "primset/error.h"

namespace primset::prims::reference {
namespace {

uint64_t read_bits(const std::byte* p, size_t size) {
  uint64_t v = 0;
  std::memcpy(&v, p, size);
  return v;
}

Element read_element(DType t, const std::byte* p) {
  Element e;
  size_t size = byte_size(t);
  if (is_complex(t)) {
    e.re = decode(read_bits(p, size / 2), real_type(t));
    e.im = decode(read_bits(p + size / 2, size / 2), real_type(t));
  } else if (is_floating(t)) {
    e.re = decode(read_bits(p, size), t);
  } else {
    e.integer = wrap(static_cast<int64_t>(read_bits(p, size)), t);
  }
  return e;
}

void write_element(DType t, const Element& e, std::byte* p) {
  size_t size = byte_size(t);
  if (is_complex(t)) {
    uint64_t re = encode(e.re, real_type(t)), im = encode(e.im, real_type(t));
    std::memcpy(p, &re, size / 2);
    std::memcpy(p + size / 2, &im, size / 2);
  } else {
    uint64_t v = is_floating(t) ? encode(e.re, t) : static_cast<uint64_t>(wrap(e.integer, t));
    std::memcpy(p, &v, size);
  }
}

}  // namespace

int64_t Array::size() const {
  return element_count(shape);
}

Array from_bytes(DType dtype, std::vector<int64_t> shape, std::span<const std::byte> bytes) {
  Array a = make_array(dtype, std::move(shape));
  if (bytes.size() != a.data.size() * byte_size(dtype)) {
    throw Error(ErrorCode::internal, "an array of " + std::to_string(a.data.size()) + " " +
                                         std::string(name(dtype)) + " does not have " +
                                         std::to_string(bytes.size()) + " bytes");
  }
  for (size_t i = 0; i < a.data.size(); ++i) {
    a.data[i] = read_element(dtype, bytes.data() + i * byte_size(dtype));
  }
  return a;
}

std::vector<std::byte> to_bytes(const Array& array) {
  size_t size = byte_size(array.dtype);
  std::vector<std::byte> bytes(array.data.size() * size);
  for (size_t i = 0; i < array.data.size(); ++i) {
    write_element(array.dtype, array.data[i], bytes.data() + i * size);
  }
  return bytes;
}

int64_t element_count(const Ints& shape) {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  return n;
}

Ints row_major_strides(const Ints& shape) {
  Ints strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

int64_t offset_of(const Ints& index, const Ints& shape) {
  int64_t at = 0;
  for (size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + index[d];
  return at;
}

bool contains(const Ints& dims, int64_t dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

Ints without(const Ints& shape, const Ints& dims) {
  Ints out;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!contains(dims, static_cast<int64_t>(d))) out.push_back(shape[d]);
  }
  return out;
}

void for_each_index(const Ints& shape, const std::function<void(const Ints&, size_t)>& f) {
  Ints index(shape.size(), 0);
  auto count = static_cast<size_t>(element_count(shape));
  for (size_t at = 0; at < count; ++at) {
    f(index, at);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

void for_each_group(const Ints& shape, const Ints& dims,
                    const std::function<void(size_t, const std::vector<size_t>&)>& f) {
  Ints strides = row_major_strides(shape), inner, inner_strides, outer_strides;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (contains(dims, static_cast<int64_t>(d))) {
      inner.push_back(shape[d]);
      inner_strides.push_back(strides[d]);
    } else {
      outer_strides.push_back(strides[d]);
    }
  }
  auto dot = [](const Ints& index, const Ints& steps) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * steps[d];
    return static_cast<size_t>(at);
  };
  std::vector<size_t> steps, at;
  for_each_index(inner, [&](const Ints& i, size_t) { steps.push_back(dot(i, inner_strides)); });
  for_each_index(without(shape, dims), [&](const Ints& index, size_t group) {
    at = steps;
    for (size_t& a : at) a += dot(index, outer_strides);
    f(group, at);
  });
}

Array make_array(DType dtype, Ints shape) {
  Array a;
  a.dtype = dtype;
  a.shape = std::move(shape);
  a.data.resize(static_cast<size_t>(a.size()));
  return a;
}

void rearrange(const Array& x, Array& result, const Source& source, const Element& otherwise) {
  Ints from(x.shape.size());
  for_each_index(result.shape, [&](const Ints& index, size_t at) {
    bool inside = source(index, from);
    result.data[at] = inside ? x.data[static_cast<size_t>(offset_of(from, x.shape))] : otherwise;
  });
}

}  // namespace primset::prims::reference
