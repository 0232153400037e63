#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "sdk/base/suggestion.h"
#include "sdk/cli/command.h"
#include "sdk/cli/literals.h"
#include "sdk/cli/npy.h"
#include "sdk/cli/output.h"
#include "sdk/cli/terminal.h"

namespace primset::cli {
namespace {

struct RunOptions {
  std::string op, device;
  std::vector<std::string> positional, named, out;
  bool json = false;
};

struct Arguments {
  std::vector<Value> args;
  std::vector<NamedValue> kwargs;
};

[[noreturn]] void unknown_argument(const std::string& name, const runtime::OperatorInfo& info) {
  std::vector<std::string_view> names;
  for (const runtime::ArgInfo& a : info.args) names.push_back(a.spec->name);
  throw Error(ErrorCode::value,
              fmt::format("--arg {}: expected name=value with a name of {}",
                          quote_with_suggestion(name, names), info.overload.schema));
}

Arguments parse(const runtime::OperatorInfo& info, const RunOptions& o, Device device) {
  Arguments out;
  if (o.positional.size() > info.args.size())
    throw Error(ErrorCode::value, fmt::format("{} takes {} arguments: {}", info.overload.qualified,
                                              info.args.size(), info.overload.schema));
  for (size_t i = 0; i < o.positional.size(); ++i) {
    const specs::Argument& spec = *info.args[i].spec;
    Value v = parse_literal(o.positional[i], spec, device);
    if (spec.keyword_only)
      out.kwargs.push_back({spec.name, std::move(v)});
    else
      out.args.push_back(std::move(v));
  }
  for (const std::string& text : o.named) {
    const size_t eq = text.find('=');
    const int i = eq == std::string::npos ? -1 : info.overload.find_arg(text.substr(0, eq));
    if (i < 0) unknown_argument(text.substr(0, eq), info);
    const specs::Argument& spec = *info.args[static_cast<size_t>(i)].spec;
    out.kwargs.push_back({spec.name, parse_literal(text.substr(eq + 1), spec, device)});
  }
  return out;
}

// The overload the literals are meant for: the one named, else the first of the base name whose
// kinds they can be read as.
const runtime::OperatorInfo& pick(const RunOptions& o, Device device) {
  runtime::OperatorRegistry& registry = runtime::OperatorRegistry::instance();
  if (o.op.find('.') != std::string::npos) return registry.at(o.op);
  const auto overloads = registry.overloads(o.op);
  for (const auto* info : overloads) {
    try {
      if (info->outs.empty() && info->overload.status == specs::Status::implemented) {
        parse(*info, o, device);
        return *info;
      }
    } catch (const Error&) {  // the next one may fit
    }
  }
  return overloads.empty() ? registry.at(o.op) : *overloads[0];
}

std::vector<Tensor> tensors_of(const std::vector<Value>& values) {
  std::vector<Tensor> out;
  for (const Value& v : values) {
    if (v.is<Tensor>()) out.push_back(v.tensor());
    if (v.is<std::vector<Tensor>>()) {
      for (const Tensor& t : v.as<std::vector<Tensor>>()) out.push_back(t);
    }
  }
  return out;
}

std::string text_of(const Value& v) {
  if (v.is<Tensor>()) return to_string(v.tensor());
  if (v.is<Scalar>()) return to_string(v.as<Scalar>());
  if (v.is<bool>()) return v.as<bool>() ? "true" : "false";
  if (v.is<int64_t>()) return std::to_string(v.as<int64_t>());
  if (v.is<DType>()) return std::string(name(v.as<DType>()));
  if (v.is<double>()) return fmt::format("{}", v.as<double>());
  if (!v.is<std::vector<Tensor>>()) return std::string(v.kind());
  std::string out;
  for (const Tensor& t : v.as<std::vector<Tensor>>()) out += to_string(t) + "\n";
  return out;
}

nlohmann::json json_of(const Value& v) {
  if (!v.is<Tensor>()) return {{"kind", v.kind()}, {"text", text_of(v)}};
  const Tensor& t = v.tensor();
  return {{"dtype", name(t.dtype())},
          {"sizes", std::vector<int64_t>(t.sizes().begin(), t.sizes().end())},
          {"strides", std::vector<int64_t>(t.strides().begin(), t.strides().end())},
          {"device", t.device().to_string()},
          {"text", to_string(t)}};
}

int run_command(const RunOptions& o) {
  const Device device = o.device.empty() ? current_device() : Device(o.device);
  const DeviceGuard guard(device);
  const runtime::OperatorInfo& info = pick(o, device);
  const Arguments arguments = parse(info, o, device);
  const std::vector<Value> results = Operator(info).invoke(arguments.args, arguments.kwargs);
  synchronize(device);
  const std::vector<Tensor> tensors = tensors_of(results);
  if (o.out.size() > tensors.size())
    throw Error(ErrorCode::value,
                fmt::format("{} --out files for {} results", o.out.size(), tensors.size()));
  for (size_t i = 0; i < o.out.size(); ++i) write_npy(o.out[i], tensors[i]);
  if (o.json) {
    auto list = nlohmann::json::array();
    for (const Value& v : results) list.push_back(json_of(v));
    fmt::print("{}\n", json_text(list, 1));
  } else if (o.out.empty()) {
    for (const Value& v : results) fmt::print("{}\n", text_of(v));
  }
  return kOk;
}

const Command kRunCommand(
    "run", "Run an operator on .npy files or numbers",
    "Example:\n"
    "  primset run softmax '[[1,2.5],[3,4]]' 1\n"
    "  primset run add.Tensor a.npy b.npy --arg alpha=2 --out sum.npy\n"
    "  primset run sum.dim_IntList x.npy 0,1 true --device vulkan:0\n"
    "Arguments follow the schema; a tensor is the name of an .npy file or numbers as in\n"
    "[[1,2],[3,4]], a list is 1,2 or [1,2], and none leaves an optional one out. Without --out "
    "the\n"
    "results are printed.",
    [](CLI::App& app) {
      auto o = std::make_shared<RunOptions>();
      app.add_option("operator", o->op, "An overload (add.Tensor) or a base name (relu)")
          ->required();
      app.add_option("arguments", o->positional, "In the schema's order");
      app.add_option("--arg", o->named, "By name: --arg alpha=2")->allow_extra_args(false);
      app.add_option("--out", o->out, "Write the results here, one file a tensor")
          ->allow_extra_args(false);
      app.add_option("--device", o->device, "cpu, vulkan:0, ... (default: the current device)");
      app.add_flag("--json", o->json, "An array with one object a result");
      return [o] { return run_command(*o); };
    });

}  // namespace
}  // namespace primset::cli
