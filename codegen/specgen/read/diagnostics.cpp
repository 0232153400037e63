#include "codegen/specgen/read/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace primset::specs {

uint32_t Diagnostics::add_file(std::string name) {
  files_.push_back(std::move(name));
  return static_cast<uint32_t>(files_.size() - 1);
}

void Diagnostics::error(Position position, std::string what, std::string expected) {
  list_.push_back({position, std::move(what), std::move(expected)});
}

void Diagnostics::append(const Diagnostics& other) {
  const auto first = static_cast<uint32_t>(files_.size());
  files_.insert(files_.end(), other.files_.begin(), other.files_.end());
  for (Diagnostic d : other.list_) {
    d.position.file += first;
    list_.push_back(std::move(d));
  }
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<const Diagnostic*> order;
  for (const Diagnostic& d : list_) order.push_back(&d);
  std::sort(order.begin(), order.end(), [](const Diagnostic* a, const Diagnostic* b) {
    return a->position != b->position ? a->position < b->position : a < b;
  });
  std::vector<Diagnostic> list;
  for (const Diagnostic* d : order) {
    // A second complaint about the same place mostly follows from the first.
    if (list.empty() || list.back().position != d->position) list.push_back(*d);
  }
  return list;
}

std::string Diagnostics::text() const {
  std::string out;
  for (const Diagnostic& d : sorted()) {
    out += fmt::format("{}:{}:{}: {}", files_[d.position.file], d.position.line, d.position.column,
                       d.what);
    if (!d.expected.empty()) out += "; expected " + d.expected;
    out += "\n";
  }
  return out;
}

std::string Diagnostics::json() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Diagnostic& d : sorted()) {
    list.push_back({{"file", files_[d.position.file]},
                    {"line", d.position.line},
                    {"column", d.position.column},
                    {"what", d.what},
                    {"expected", d.expected}});
  }
  // A spec may hold bytes that are no UTF-8; a message about it must still be printable.
  return list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace primset::specs
