#include "conformance/runner/results/results_file.h"

#include <nlohmann/json.hpp>

#include "primset/error.h"

namespace primset::conformance {
namespace {

using nlohmann::json;

std::string header_line(const RunInfo& info) {
  return json{{"run",
               {{"device", info.device},
                {"plugin", info.plugin},
                {"seed", info.seed},
                {"specs", info.specs}}}}
      .dump();
}

}  // namespace

ResultsFile::ResultsFile(const std::filesystem::path& path, const RunInfo& info, bool resume) {
  bool exists = std::filesystem::exists(path) && std::filesystem::file_size(path) > 0;
  if (resume && exists) read(path, info);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  out_.open(path, resume ? std::ios::app : std::ios::trunc);
  if (!out_) throw Error(ErrorCode::runtime, path.string() + " cannot be written");
  if (!resume || !exists) out_ << header_line(info) << std::endl;
}

void ResultsFile::read(const std::filesystem::path& path, const RunInfo& info) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  if (line != header_line(info)) {
    throw Error(ErrorCode::value, path.string() + " holds results of another run (" + line +
                                      "); this one is " + header_line(info) +
                                      ". Name another file, or leave --resume out.");
  }
  bool complete = true;
  while (std::getline(in, line)) {
    complete = !in.eof();
    std::optional<CaseResult> r = parse_kept_line(line);
    if (!r) continue;
    if (r->verdict.outcome == Outcome::not_run) {
      earlier_.erase(r->id);
    } else {
      earlier_[r->id] = std::move(*r);
    }
  }
  in.close();
  // So that what is appended starts a line of its own.
  if (!complete) std::ofstream(path, std::ios::app) << "\n";
}

void ResultsFile::append(const CaseResult& result) {
  out_ << to_json_line(result) << std::endl;
}

}  // namespace primset::conformance
