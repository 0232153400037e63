#include "codegen/specgen/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

#include "codegen/specgen/parse/host_functions.h"
#include "codegen/specgen/parse/op_reader.h"
#include "codegen/specgen/parse/prim_reader.h"
#include "codegen/specgen/parse/vocabulary.h"
#include "codegen/specgen/read/yaml.h"
#include "codegen/specgen/resolve/resolve.h"

namespace primset::specs {
namespace {

constexpr const char* kAtenVersion = "2.13.0";

enum class FileKind { dtypes, tolerances, host_functions, primitives, operators };
constexpr const char* kFileKinds =
    "a list of '- prim:' or '- op:' entries, or the keys 'dtypes' and 'sets', 'tolerances' or "
    "'intrinsics'";

// A file says what it is by its first key.
std::optional<FileKind> classify(const YamlNode& root) {
  if (root.is_mapping() && root.find("dtypes") != nullptr) return FileKind::dtypes;
  if (root.is_mapping() && root.find("tolerances") != nullptr) return FileKind::tolerances;
  if (root.is_mapping() && root.find("intrinsics") != nullptr) return FileKind::host_functions;
  if (!root.is_sequence() || root.items.empty()) return std::nullopt;
  const YamlNode& first = root.items[0];
  if (first.find("prim") != nullptr || first.find("category") != nullptr)
    return FileKind::primitives;
  if (first.find("op") != nullptr) return FileKind::operators;
  return std::nullopt;
}

std::string stem_of(const std::string& name) {
  return std::filesystem::path(name).stem().string();
}

struct ReadFile {
  std::string stem;
  FileKind kind;
  YamlNode root;
};

std::vector<ReadFile> read_files(const std::vector<SourceFile>& files, Bundle& bundle,
                                 Diagnostics& diagnostics) {
  std::vector<ReadFile> read;
  for (const SourceFile& file : files) {
    const uint32_t index = diagnostics.add_file(file.name);
    bundle.files.push_back(file.name);
    const size_t errors = diagnostics.count();
    YamlNode root = read_yaml(file.text, index, diagnostics);
    if (const auto kind = classify(root)) {
      read.push_back({stem_of(file.name), *kind, std::move(root)});
    } else if (diagnostics.count() == errors) {
      diagnostics.error({index, root.position.line, root.position.column}, "not a spec",
                        kFileKinds);
    }
  }
  return read;
}

void read_entries(const ReadFile& file, Bundle& bundle, OperatorSources& sources,
                  Diagnostics& diagnostics) {
  switch (file.kind) {
    case FileKind::dtypes:
      read_dtypes(file.root, bundle, diagnostics);
      break;
    case FileKind::tolerances:
      read_tolerances(file.root, bundle, diagnostics);
      break;
    case FileKind::host_functions:
      read_host_functions(file.root, bundle, diagnostics);
      break;
    case FileKind::primitives:
      read_primitives(file.root, file.stem, bundle, sources.siblings, diagnostics);
      break;
    case FileKind::operators:
      for (const YamlNode& item : file.root.items) {
        read_operator(item, file.stem, bundle, sources, diagnostics);
      }
      break;
  }
}

void collect(const std::filesystem::path& path, std::vector<SourceFile>& files,
             Diagnostics& diagnostics) {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  const bool folder = fs::is_directory(path);
  if (folder) {
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file() && entry.path().extension() == ".yaml")
        found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
  } else {
    found.push_back(path);
  }
  for (const fs::path& file : found) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
      diagnostics.error({diagnostics.add_file(file.string()), 1, 1}, "cannot be opened",
                        "a YAML file");
      continue;
    }
    // Relative to the folder, so that a bundle does not depend on where the tree lies.
    const std::string name =
        folder ? file.lexically_relative(path).generic_string() : file.string();
    files.push_back({name, {std::istreambuf_iterator<char>(in), {}}});
  }
}

}  // namespace

Bundle compile_texts(const Bundle& base, const std::vector<SourceFile>& files,
                     Diagnostics& diagnostics) {
  // Fresh ones, so that positions and Bundle::files count the files alike.
  Diagnostics found;
  for (const std::string& name : base.files) found.add_file(name);
  Bundle bundle = base;
  bundle.aten_version = kAtenVersion;

  OperatorSources sources;
  sources.first_primitive = static_cast<uint32_t>(base.primitives.size());
  sources.first_overload = static_cast<uint32_t>(base.overloads.size());
  const std::vector<ReadFile> read = read_files(files, bundle, found);
  // What names things comes before what uses the names.
  for (FileKind kind : {FileKind::dtypes, FileKind::tolerances, FileKind::host_functions,
                        FileKind::primitives, FileKind::operators}) {
    for (const ReadFile& file : read) {
      if (file.kind == kind) read_entries(file, bundle, sources, found);
    }
  }
  bundle.build_index();
  resolve(bundle, sources, found);
  diagnostics.append(found);
  return bundle;
}

Bundle compile(const std::vector<std::filesystem::path>& paths, Diagnostics& diagnostics) {
  return merge(Bundle(), paths, diagnostics);
}

Bundle merge(const Bundle& base, const std::vector<std::filesystem::path>& extra,
             Diagnostics& diagnostics) {
  std::vector<SourceFile> files;
  for (const std::filesystem::path& path : extra) collect(path, files, diagnostics);
  if (!diagnostics.ok()) return base;
  return compile_texts(base, files, diagnostics);
}

}  // namespace primset::specs
