#include "sdk/runtime/execute/native_primitive.h"

namespace primset::runtime {

NativeCall::Tensor NativeCall::make(DType dtype, std::vector<int64_t> sizes,
                                    std::vector<int64_t> strides, primset_buffer buffer,
                                    uint64_t offset) {
  Tensor t;
  t.sizes = std::move(sizes);
  t.strides = std::move(strides);
  t.c.struct_size = sizeof(t.c);
  t.c.dtype = static_cast<uint32_t>(dtype);
  t.c.buffer = buffer;
  t.c.offset = offset;
  t.c.rank = static_cast<uint32_t>(t.sizes.size());
  return t;
}

void NativeCall::add_operand(DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides,
                             primset_buffer buffer, uint64_t offset) {
  operands_.push_back(make(dtype, std::move(sizes), std::move(strides), buffer, offset));
}

void NativeCall::add_result(DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides,
                            primset_buffer buffer, uint64_t offset) {
  results_.push_back(make(dtype, std::move(sizes), std::move(strides), buffer, offset));
}

void NativeCall::add_ints(const std::string& name, std::vector<int64_t> values, bool list) {
  Attribute& a = attributes_.emplace_back();
  a.name = name;
  a.ints = std::move(values);
  a.c.kind = list ? PRIMSET_ATTR_INTS : PRIMSET_ATTR_INT;
}

void NativeCall::add_float(const std::string& name, double value) {
  Attribute& a = attributes_.emplace_back();
  a.name = name;
  a.c.kind = PRIMSET_ATTR_FLOAT;
  a.c.value.f = value;
}

void NativeCall::add_text(const std::string& name, const std::string& text) {
  Attribute& a = attributes_.emplace_back();
  a.name = name;
  a.text = text;
  a.c.kind = PRIMSET_ATTR_STRING;
}

// The tables are made last: until then the vectors may move what they point to.
primset_primitive_call& NativeCall::call() {
  auto fill = [](std::vector<Tensor>& from, std::vector<primset_tensor>& to) {
    to.clear();
    for (Tensor& t : from) {
      t.c.sizes = t.sizes.data();
      t.c.strides = t.strides.data();
      to.push_back(t.c);
    }
  };
  fill(operands_, operand_table_);
  fill(results_, result_table_);
  attribute_table_.clear();
  for (Attribute& a : attributes_) {
    a.c.name = a.name.c_str();
    if (a.c.kind == PRIMSET_ATTR_STRING) a.c.value.string = a.text.c_str();
    if (a.c.kind == PRIMSET_ATTR_INT) a.c.value.i = a.ints[0];
    if (a.c.kind == PRIMSET_ATTR_INTS) {
      a.c.value.ints = a.ints.data();
      a.c.count = static_cast<uint32_t>(a.ints.size());
    }
    attribute_table_.push_back(a.c);
  }
  call_ = {};
  call_.struct_size = sizeof(call_);
  call_.operand_count = static_cast<uint32_t>(operand_table_.size());
  call_.operands = operand_table_.data();
  call_.result_count = static_cast<uint32_t>(result_table_.size());
  call_.results = result_table_.data();
  call_.attr_count = static_cast<uint32_t>(attribute_table_.size());
  call_.attrs = attribute_table_.data();
  return call_;
}

bool NativeCall::find(const plugin::PluginDevice& device, const std::string& name,
                      primset_primitive* out) {
  const primset_primitives* table = device.primitives();
  if (!table) return false;
  *out = {};
  out->struct_size = sizeof(*out);
  primset_status* status = table->find(device.handle(), name.c_str(), &call(), out);
  if (!status) return out->run != nullptr;
  if (plugin::status_code(status) != PRIMSET_UNSUPPORTED)
    plugin::raise_status(status, device.name(), "primitives.find(" + name + ")");
  plugin::drop_status(status);
  return false;
}

std::vector<NativePlan::Attribute> native_attributes(const prims::Node& node, CodeBuilder& code) {
  std::vector<NativePlan::Attribute> out;
  for (const prims::Attr& a : node.attrs) {
    NativePlan::Attribute& to = out.emplace_back();
    to.name = std::string(a.name);
    to.kind = PRIMSET_ATTR_INT;
    auto integers = [&](const auto& list) {
      to.kind = PRIMSET_ATTR_INTS;
      for (const auto& v : list) to.integers.push_back(code.slot(prims::SymInt(v)));
    };
    auto integer = [&](const prims::SymInt& v) { to.integers.push_back(code.slot(v)); };
    std::visit(
        [&](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, std::string>) {
            to.kind = PRIMSET_ATTR_STRING;
            to.text = v;
          } else if constexpr (std::is_same_v<T, prims::Attr::Ints> ||
                               std::is_same_v<T, prims::SymInts>) {
            integers(v);
          } else if constexpr (std::is_same_v<T, Scalar>) {
            if (v.is_integral()) return integer(v.to_int());
            to.kind = PRIMSET_ATTR_FLOAT;
            to.floating = v.to_double();
          } else if constexpr (std::is_same_v<T, prims::SymInt>) {
            integer(v);
          } else {
            integer(static_cast<int64_t>(v));
          }
        },
        a.value);
  }
  return out;
}

}  // namespace primset::runtime
