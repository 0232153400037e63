#include <fmt/format.h>
#include <primset/device.h>
#include <primset/error.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "sdk/cli/command.h"
#include "sdk/cli/output.h"
#include "sdk/cli/packed_program.h"
#include "sdk/runtime/cache/disk_cache.h"
#include "sdk/runtime/device/device_packs.h"
#include "sdk/runtime/device/device_state.h"

namespace primset::cli {
namespace {

using runtime::KernelPack;
using runtime::PackIdentity;

struct Request {
  std::string device, out, cache, check, tier;
  std::vector<std::string> operators, program;
  unsigned jobs = 2;
  bool json = false;

  Device chosen() const { return device.empty() ? current_device() : Device(device); }
};

int refuse(ExitCode code, std::string_view why) {
  std::fprintf(stderr, "primset pack: %.*s\n", static_cast<int>(why.size()), why.data());
  return code;
}

// The suite's own calls, of all operators or of some.
std::vector<std::string> catalogue(const Request& request) {
  const std::string usual = request.operators.empty() ? "smoke" : "standard";
  std::vector<std::string> out = {"/proc/self/exe",
                                  "conform",
                                  "--device",
                                  request.chosen().to_string(),
                                  "--jobs",
                                  std::to_string(request.jobs),
                                  "--no-rerun",
                                  "--tier",
                                  request.tier.empty() ? usual : request.tier};
  for (const std::string& name : request.operators) {
    out.emplace_back("--filter");
    out.push_back(name);
  }
  return out;
}

// Compiles what is asked for into the cache. The exit code that ends the command, or kOk.
int compile(const Request& request, const std::filesystem::path& cache) {
  const std::string device = request.chosen().to_string();
  const bool is_program = !request.program.empty();
  const int code =
      is_program ? run_with_cache(request.program, device, cache, Output::as_ours)
                 : run_with_cache(catalogue(request), device, cache, Output::to_standard_error);
  // A case that fails is the concern of `primset conform`; its kernels are there.
  constexpr int kNothingComputed = 5, kFlakes = 6;
  if (code == kOk || (!is_program && (code == kNegative || code == kFlakes))) return kOk;
  if (!is_program && code == kNothingComputed)
    return refuse(kError, "no operator that the device computes is meant; primset ops lists them");
  return refuse(kError, fmt::format("{} ended with {}; nothing is packed",
                                    is_program ? request.program[0] : "primset conform", code));
}

int report(const Request& request, const KernelPack& pack, const std::string& why) {
  const PackIdentity& identity = pack.identity();
  if (request.json) {
    fmt::print("{}\n", json_text({{"file", pack.file().string()},
                                  {"plugin", identity.plugin},
                                  {"device", identity.device},
                                  {"build", identity.build},
                                  {"target", identity.target},
                                  {"entries", pack.size()},
                                  {"bytes", pack.bytes()},
                                  {"refusal", why}},
                                 2));
  } else {
    fmt::print("{}: {} entries, {:.1f} MB, for {} ({})\n", pack.file().string(), pack.size(),
               static_cast<double>(pack.bytes()) / 1e6, identity.device, identity.plugin);
    if (!why.empty()) fmt::print("  is refused: {}\n", why);
  }
  return why.empty() ? kOk : kNegative;
}

// Of a file: is it whole, and does it serve the device?
int check(const Request& request, const PackIdentity& here) {
  std::string why;
  const auto pack = KernelPack::open(request.check, why);
  if (!pack) return refuse(kNegative, fmt::format("{} is refused: {}", request.check, why));
  why = runtime::difference(pack->identity(), here);
  return report(request, *pack, why.empty() ? pack->check() : why);
}

int make(const Request& request, const PackIdentity& here) {
  const TemporaryFolder folder;
  const std::filesystem::path cache =
      request.cache.empty() ? folder.path() : std::filesystem::path(request.cache);
  if (request.cache.empty()) {
    if (const int code = compile(request, cache); code != kOk) return code;
  }
  auto entries = runtime::pack_entries(runtime::DiskCache(cache), here);
  if (entries.empty())
    return refuse(kNegative, fmt::format("no kernel was compiled for {}; nothing is packed",
                                         request.chosen().to_string()));
  runtime::write_pack(request.out, here, std::move(entries));
  Request written = request;
  written.check = request.out;
  return check(written, here);
}

int run(const Request& request) {
  if (request.check.empty() == request.out.empty())
    return refuse(kUsage, "expected --out FILE, which is made, or --check FILE");
  const bool has_catalogue = !request.operators.empty() || !request.tier.empty();
  if (!request.program.empty() + has_catalogue + !request.cache.empty() > 1)
    return refuse(kUsage, "expected one of --ops or --tier, --cache, and a program after --");
  const runtime::DeviceState& device = runtime::device_state(request.chosen());
  if (device.is_meta() || !device.has_kernels())
    return refuse(kNegative, request.chosen().to_string() + " takes no kernels");
  const PackIdentity here = runtime::pack_identity(device.plugin(), device.target());
  return request.check.empty() ? make(request, here) : check(request, here);
}

const Command kPackCommand(
    "pack", "Compile kernels ahead of time, into a file",
    "Examples:\n"
    "  primset pack --device cuda:0 --out model.pack -- python model.py    what a program needs\n"
    "  primset pack --device cuda:0 --out few.pack --ops 'softmax*' --ops mm\n"
    "  primset pack --device cuda:0 --out all.pack --tier standard         the conformance "
    "suite's\n"
    "  primset pack --device cuda:0 --out mine.pack --cache ~/.cache/primset\n"
    "  primset pack --device cuda:0 --check model.pack                     whole, and for this "
    "device?\n"
    "  PRIMSET_PACK=model.pack python model.py                             use it\n"
    "\n"
    "A program is run once, to its end, on the device, with an empty kernel cache; all that it\n"
    "compiles goes into the file, the driver's binaries included where a plugin keeps them. "
    "Kernels\n"
    "serve all sizes, except where an algorithm or a vector width depends on one: a program packs\n"
    "exactly what it needs, the suite's calls, which are small, most of what others need.\n"
    "PRIMSET_PACK takes files with colons between them, a program calls primset::use_pack, and\n"
    "lib<name>_primset.pack (or .*.pack) beside a plugin is used without either. What is in no "
    "pack is compiled\n"
    "as ever. A pack is executed like a plugin: nobody but you and root may be able to write it. "
    "It\n"
    "is for this build of Primset and this kind of device; elsewhere it is refused, and the log "
    "says\n"
    "why. After an update of the driver its kernels are taken, and the driver compiles them again.",
    [](CLI::App& app) {
      auto request = std::make_shared<Request>();
      app.add_option("--device", request->device, "cpu, cuda:0, ... (default: the current device)");
      app.add_option("--out", request->out, "The file to make")->type_name("FILE");
      app.add_option("--ops", request->operators,
                     "Operators, by name or glob, in the suite's calls of them; may be repeated")
          ->allow_extra_args(false);
      app.add_option("--tier", request->tier,
                     "How many of the suite's calls (default: smoke; of --ops: standard)")
          ->check(CLI::IsMember({"smoke", "standard", "full"}));
      app.add_option("--cache", request->cache, "Pack what this cache folder holds; run nothing")
          ->check(CLI::ExistingDirectory);
      app.add_option("--jobs", request->jobs, "Processes that make the suite's calls (default: 2)");
      app.add_option("--check", request->check, "Check this pack against the device")
          ->type_name("FILE");
      app.add_flag("--json", request->json, "What the pack is, as an object");
      app.add_option("program", request->program, "After --: a program and its arguments");
      return [request] { return run(*request); };
    });

}  // namespace
}  // namespace primset::cli
