// specgen: compiles specs to what the rest of Primset reads.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/specgen/compile.h"
#include "codegen/specgen/parse/vocabulary.h"
#include "codegen/specgen/write/api.h"
#include "codegen/specgen/write/decomps.h"
#include "codegen/specgen/write/docs.h"
#include "codegen/specgen/write/dtypes.h"
#include "codegen/specgen/write/file_writer.h"
#include "codegen/specgen/write/host_functions.h"
#include "codegen/specgen/write/prims.h"
#include "primset/error.h"
#include "specs/bundle/writer.h"

namespace primset::specs {
namespace {

constexpr const char* kDescription =
    R"(Compiles operator and primitive specs (YAML) into the spec bundle and what is generated beside it.

  specgen specs --check                    is every spec right? Writes nothing
  specgen specs --out build/generated      the bundle, the primitive tables, the typed C++ headers,
                                           the operators as C++ functions
  specgen specs my_ops.yaml --out out      with operators of your own
  specgen specs --out out --emit bundle    the bundle alone
  specgen docs specs --out build/reference the operator reference
  specgen dtypes specs/dtypes.yaml --out . what the public headers know of dtypes, in the repository

A path is a YAML file or a folder of them. A file is a list of '- op:' or '- prim:' entries; its name
is the operators' family or the primitives' category. Mistakes are printed as
file:line:column: what; expected ..., all that are found in one run, or with --json as a JSON list.
Files are written only when they change.)";

struct Options {
  std::vector<std::string> paths;
  std::string out;
  std::vector<std::string> emit = {"bundle", "prims", "decomps", "api"};
  std::string stamp;
  bool check = false;
  bool json = false;
};

void write_outputs(const Options& options, Bundle& bundle) {
  const std::filesystem::path out = options.out;
  const std::set<std::string> wanted(options.emit.begin(), options.emit.end());
  if (wanted.contains("bundle")) {
    const std::vector<std::byte> bytes = write_bundle(bundle);
    write_if_changed(out / "specs" / "bundle.bin",
                     {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  if (wanted.contains("prims")) {
    write_if_changed(out / "prims" / "prim_list.inc", emit_prim_list(bundle));
    write_if_changed(out / "prims" / "prim_table.inc", emit_prim_table(bundle));
    write_if_changed(out / "prims" / "prim_traits.inc", emit_prim_traits(bundle));
  }
  if (wanted.contains("decomps")) {
    write_if_changed(out / "specs" / "host_functions.inc", emit_host_functions(bundle));
    for (const auto& [file, text] : emit_decomps(bundle)) {
      write_if_changed(out / "decomps" / file, text);
    }
  }
  if (wanted.contains("api")) {
    for (const auto& [file, text] : emit_api(bundle)) {
      write_if_changed(out / "primset" / file, text);
    }
  }
  if (!options.stamp.empty()) {
    // Always new, unlike the outputs: it tells the build that they are up to date.
    std::filesystem::remove(options.stamp);
    write_if_changed(options.stamp, "");
  }
}

// Prints the mistakes, if any; returns whether there were none.
bool report(const Options& options, const Diagnostics& diagnostics) {
  if (!diagnostics.ok()) {
    const std::string text = options.json ? diagnostics.json() : diagnostics.text();
    std::fputs(text.c_str(), options.json ? stdout : stderr);
    return false;
  }
  if (options.json) std::fputs("[]\n", stdout);
  return true;
}

// Compiles, and hands the bundle to `write` when there are no mistakes.
template <typename Write>
int run(const Options& options, Write write) {
  Diagnostics diagnostics;
  const std::vector<std::filesystem::path> paths(options.paths.begin(), options.paths.end());
  Bundle bundle = compile(paths, diagnostics);
  if (!report(options, diagnostics)) return 1;
  if (!options.check) write(bundle);
  return 0;
}

void write_docs(const Options& options, const Bundle& bundle) {
  for (const auto& [file, text] : emit_docs(bundle)) {
    write_if_changed(std::filesystem::path(options.out) / file, text);
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::runtime, path.string() + " cannot be opened");
  return {std::istreambuf_iterator<char>(in), {}};
}

// Reads one file of dtypes and writes the headers of the repository in options.out.
int write_dtypes(const Options& options) {
  Diagnostics diagnostics;
  Bundle bundle;
  const std::string& path = options.paths.front();
  const YamlNode root = read_yaml(read_file(path), diagnostics.add_file(path), diagnostics);
  const std::vector<DTypeDefinition> dtypes = read_dtypes(root, bundle, diagnostics);
  if (!report(options, diagnostics)) return 1;
  if (options.check) return 0;
  const std::filesystem::path out = options.out, header = out / "sdk/include/primset/plugin.h";
  write_if_changed(out / "sdk/base/include/primset/dtypes.def", emit_dtype_list(dtypes));
  write_if_changed(header, emit_plugin_header(read_file(header), dtypes, bundle.dtype_sets));
  return 0;
}

void add_common_options(CLI::App& app, Options& options) {
  app.add_option("paths", options.paths, "YAML files, or folders of them")
      ->check(CLI::ExistingPath);
  app.add_option("--out", options.out, "the folder to write to");
  app.add_flag("--json", options.json, "report mistakes as JSON, on standard output");
}

// What the command line lacks; empty when it is whole.
std::string missing(const Options& options) {
  if (options.paths.empty())
    return "say what to compile (a YAML file or a folder); --help explains";
  if (!options.check && options.out.empty()) return "say where to write (--out DIR), or --check";
  return "";
}

}  // namespace
}  // namespace primset::specs

int main(int argc, char** argv) {
  using namespace primset::specs;
  Options options;
  CLI::App app{kDescription, "specgen"};
  add_common_options(app, options);
  app.add_option("--emit", options.emit, "what to write")
      ->delimiter(',')
      ->check(CLI::IsMember({"bundle", "prims", "decomps", "api"}))
      ->capture_default_str();
  app.add_option("--stamp", options.stamp, "a file to touch when all is written");
  app.add_flag("--check", options.check, "only report mistakes");
  CLI::App* docs = app.add_subcommand("docs", "write the reference, a Markdown page a family");
  add_common_options(*docs, options);
  CLI::App* dtypes = app.add_subcommand("dtypes", "write the public headers' part of dtypes.yaml");
  add_common_options(*dtypes, options);
  CLI11_PARSE(app, argc, argv);

  if (const std::string what = missing(options); !what.empty()) {
    std::fputs(fmt::format("specgen: {}\n", what).c_str(), stderr);
    return 2;
  }
  try {
    if (dtypes->parsed()) return write_dtypes(options);
    return run(options, [&](Bundle& bundle) {
      docs->parsed() ? write_docs(options, bundle) : write_outputs(options, bundle);
    });
  } catch (const std::exception& error) {
    std::fputs(fmt::format("{}\n", error.what()).c_str(), stderr);
    return 1;
  }
}
