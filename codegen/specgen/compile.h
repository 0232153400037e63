// Specgen as a library: YAML in, a bundle out. The stages are read (yaml), parse (schemas,
// signatures, formulas), resolve (names, variants), check, and write (the emitters).
#ifndef PRIMSET_CODEGEN_SPECGEN_COMPILE_H_
#define PRIMSET_CODEGEN_SPECGEN_COMPILE_H_

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/specgen/read/diagnostics.h"
#include "specs/bundle/model.h"

namespace primset::specs {

// A file's name, as messages and the bundle call it, and its text. The name's stem is the family of
// its operators and the category of its primitives.
struct SourceFile {
  std::string name;
  std::string text;
};

// Compiles the files, or all *.yaml below a folder. When diagnostics.ok() afterwards the bundle is
// whole; else it holds what could be understood.
Bundle compile(const std::vector<std::filesystem::path>& paths, Diagnostics& diagnostics);

// Adds operators and primitives to those of `base`, whose names and vocabulary they may use. This
// is what `--specs my_ops.yaml` does at run time.
Bundle merge(const Bundle& base, const std::vector<std::filesystem::path>& extra,
             Diagnostics& diagnostics);

// The same for texts in memory.
Bundle compile_texts(const Bundle& base, const std::vector<SourceFile>& files,
                     Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_COMPILE_H_
