#include "sdk/runtime/plugin/validation/validation.h"

#include <fmt/format.h>
#include <primset/error.h>

#include <charconv>
#include <cstdlib>

#include "sdk/runtime/plugin/validation/calls.h"
#include "sdk/runtime/plugin/validation/objects.h"

namespace primset::plugin {
namespace {

constexpr struct {
  std::string_view name;
  uint32_t code;
} kStatusNames[] = {
    {"invalid_argument", PRIMSET_INVALID_ARGUMENT}, {"unsupported", PRIMSET_UNSUPPORTED},
    {"out_of_memory", PRIMSET_OUT_OF_MEMORY},       {"device_lost", PRIMSET_DEVICE_LOST},
    {"load_failed", PRIMSET_LOAD_FAILED},           {"internal", PRIMSET_INTERNAL},
};

Fault parse_fault(std::string_view text) {
  const auto wrong = [&] {
    throw Error(ErrorCode::value,
                fmt::format("PRIMSET_FAULTS: \"{}\" does not parse; expected a form like "
                            "memory_alloc:2=out_of_memory",
                            text));
  };
  const size_t colon = text.find(':'), equals = text.find('=');
  if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon)
    wrong();
  Fault fault;
  fault.call = text.substr(0, colon);
  const char* last = text.data() + equals;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, last, fault.nth);
  if (error != std::errc() || end != last || fault.nth == 0) wrong();
  for (const auto& status : kStatusNames) {
    if (status.name != text.substr(equals + 1)) continue;
    fault.status = status.code;
    return fault;
  }
  wrong();
  return fault;
}

}  // namespace

std::vector<Fault> parse_faults(std::string_view text) {
  std::vector<Fault> faults;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) faults.push_back(parse_fault(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return faults;
}

std::optional<ValidationOptions> validation_from_environment() {
  const char* validate = std::getenv("PRIMSET_VALIDATE");
  const char* faults = std::getenv("PRIMSET_FAULTS");
  const bool wanted =
      (validate && *validate && std::string_view(validate) != "0") || (faults && *faults);
  if (!wanted) return std::nullopt;
  ValidationOptions options;
  if (faults) options.faults = parse_faults(faults);
  return options;
}

std::unique_ptr<ValidationLayer> ValidationLayer::wrap(const primset_plugin* inner,
                                                       const primset_host* host,
                                                       ValidationOptions options) {
  return std::unique_ptr<ValidationLayer>(new ValidationLayer(inner, host, std::move(options)));
}

ValidationLayer::ValidationLayer(const primset_plugin* inner, const primset_host* host,
                                 ValidationOptions options)
    : inner_(inner), host_(host), faults_(std::move(options.faults)) {
  table_.layer = this;
  fill_validation_table(*inner, table_.table);
  validation::Objects::instance().add_layer(this);
}

ValidationLayer::~ValidationLayer() {
  validation::Objects::instance().remove_layer(this);
}

ValidationLayer& ValidationLayer::of(const primset_plugin* self) {
  return *reinterpret_cast<const Table*>(self)->layer;
}

std::vector<std::string> ValidationLayer::findings() const {
  const std::lock_guard lock(mutex_);
  return findings_;
}

void ValidationLayer::clear_findings() {
  const std::lock_guard lock(mutex_);
  findings_.clear();
}

void ValidationLayer::add_finding(std::string text) {
  if (host_ && host_->log)
    host_->log(host_, PRIMSET_LOG_ERROR,
               fmt::format("validation: plugin {}: {}", inner_->name, text).c_str());
  const std::lock_guard lock(mutex_);
  findings_.push_back(std::move(text));
}

void ValidationLayer::inject(Fault fault) {
  const std::lock_guard lock(mutex_);
  faults_.push_back(std::move(fault));
}

primset_status* ValidationLayer::fault(std::string_view call) {
  const std::lock_guard lock(mutex_);
  primset_status* failed = nullptr;
  for (Fault& f : faults_) {
    if (f.nth == 0 || f.call != call) continue;
    if (--f.nth == 0 && !failed)
      failed = validation::make_status(f.status, fmt::format("injected fault of {}", call));
  }
  return failed;
}

}  // namespace primset::plugin
