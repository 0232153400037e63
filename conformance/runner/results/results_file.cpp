#include "conformance/runner/results/results_file.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "primset/error.h"
#include "sdk/base/printable.h"

namespace primset::conformance {
namespace {

using nlohmann::json;

// Of what is no header of this run, this much is shown.
constexpr size_t kShownOfHeader = 300;
// Results that a failing machine may lose.
constexpr size_t kSyncEvery = 256;

std::string header_line(const RunInfo& info) {
  return json{{"run",
               {{"device", info.device},
                {"plugin", info.plugin},
                {"seed", info.seed},
                {"specs", info.specs}}}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

ResultsFile::ResultsFile(const std::filesystem::path& path, const RunInfo& info, bool resume)
    : out_(path, OutputFile::Mode::append) {
  const bool keeps = std::filesystem::is_regular_file(path);  // unlike a pipe or a device
  if (keeps && !resume) std::filesystem::resize_file(path, 0);
  if (keeps && std::filesystem::file_size(path) > 0)
    read(path, info);
  else
    out_.write(header_line(info) + "\n");
}

void ResultsFile::read(const std::filesystem::path& path, const RunInfo& info) {
  const std::string header = header_line(info);
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  // An interruption may have cut the header short, too.
  if (in.eof() && header.starts_with(line)) return out_.write(header.substr(line.size()) + "\n");
  if (line != header) {
    throw Error(ErrorCode::value, path.string() + " holds results of another run (" +
                                      printable_lines(line.substr(0, kShownOfHeader)) +
                                      "); this one is " + header +
                                      ". Name another file, or leave --resume out.");
  }
  bool complete = !in.eof();
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
  if (in.bad()) throw Error(ErrorCode::runtime, path.string() + " cannot be read");
  // So that what is appended starts a line of its own.
  if (!complete) out_.write("\n");
}

void ResultsFile::append(const CaseResult& result) {
  out_.write(to_json_line(result) + "\n");
  if (++not_synced_ < kSyncEvery) return;
  out_.sync();
  not_synced_ = 0;
}

}  // namespace primset::conformance
