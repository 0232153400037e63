// A place in a JSON document that nobody vouches for. Reading it as something that it is not throws
// Error{corrupt} with the path to it: "args[1].tensor.sizes: found 3.5; expected an integer".
#ifndef PRIMSET_CONFORMANCE_CASES_INPUTS_JSON_FIELD_H_
#define PRIMSET_CONFORMANCE_CASES_INPUTS_JSON_FIELD_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace primset::conformance {

class JsonField {
 public:
  // The whole document, which must outlive this.
  explicit JsonField(const nlohmann::json& root) : json_(&root) {}

  bool is_null() const;
  bool has(const char* key) const;  // false of what is no object
  JsonField at(const char* key) const;
  std::vector<JsonField> elements() const;

  int64_t integer(int64_t least, int64_t most) const;
  int64_t integer() const;
  uint64_t natural() const;
  bool boolean() const;
  const std::string& text() const;
  std::vector<int64_t> integers() const;

  [[noreturn]] void fail(std::string_view found, std::string_view expected) const;
  // What was found is the value itself.
  [[noreturn]] void fail(std::string_view expected) const;

 private:
  JsonField(const nlohmann::json& json, std::string path) : json_(&json), path_(std::move(path)) {}

  const nlohmann::json* json_;
  std::string path_;
};

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_CASES_INPUTS_JSON_FIELD_H_
