#include "conformance/cases/inputs/json_field.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "primset/error.h"
#include "sdk/base/printable.h"

namespace primset::conformance {
namespace {

using nlohmann::json;

// What is deep is long, too: only its kind is said.
std::string short_text(const json& j) {
  constexpr size_t kMost = 60;
  if (j.is_structured()) return fmt::format("an {} of {}", j.type_name(), j.size());
  std::string text = j.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

}  // namespace

bool JsonField::is_null() const {
  return json_->is_null();
}

bool JsonField::has(const char* key) const {
  return json_->is_object() && json_->contains(key);
}

JsonField JsonField::at(const char* key) const {
  if (!json_->is_object()) fail(fmt::format("an object with '{}'", key));
  const auto it = json_->find(key);
  const JsonField field(it == json_->end() ? *json_ : *it,
                        path_.empty() ? std::string(key) : path_ + "." + key);
  if (it == json_->end()) field.fail("nothing", "a value");
  return field;
}

std::vector<JsonField> JsonField::elements() const {
  if (!json_->is_array()) fail("an array");
  std::vector<JsonField> out;
  for (size_t i = 0; i < json_->size(); ++i)
    out.push_back(JsonField((*json_)[i], fmt::format("{}[{}]", path_, i)));
  return out;
}

int64_t JsonField::integer(int64_t least, int64_t most) const {
  const bool fits =
      json_->is_number_integer() &&
      (!json_->is_number_unsigned() ||
       json_->get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  const int64_t value = fits ? json_->get<int64_t>() : 0;
  if (!fits || value < least || value > most)
    fail(least == std::numeric_limits<int64_t>::min() ? "an integer of 64 bits"
                                                      : fmt::format("{} to {}", least, most));
  return value;
}

int64_t JsonField::integer() const {
  return integer(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
}

uint64_t JsonField::natural() const {
  if (!json_->is_number_unsigned()) fail("an integer of 64 bits without a sign");
  return json_->get<uint64_t>();
}

bool JsonField::boolean() const {
  if (!json_->is_boolean()) fail("true or false");
  return json_->get<bool>();
}

const std::string& JsonField::text() const {
  if (!json_->is_string()) fail("a text");
  return json_->get_ref<const std::string&>();
}

std::vector<int64_t> JsonField::integers() const {
  std::vector<int64_t> out;
  for (const JsonField& e : elements()) out.push_back(e.integer());
  return out;
}

void JsonField::fail(std::string_view found, std::string_view expected) const {
  throw Error(ErrorCode::corrupt,
              fmt::format("{}: found {}; expected {}", path_.empty() ? "the document" : path_,
                          printable_lines(found), expected));
}

void JsonField::fail(std::string_view expected) const {
  fail(short_text(*json_), expected);
}

}  // namespace primset::conformance
