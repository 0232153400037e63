#include "sdk/runtime/plugin/probe/probe.h"

#include <fmt/format.h>
#include <primset/error.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "sdk/base/printable.h"
#include "sdk/runtime/plugin/probe/child_process.h"
#include "sdk/runtime/plugin/probe/probe_protocol.h"

namespace primset::plugin {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// Hundreds of devices and thousands of log lines are less.
constexpr size_t kMaxAnswerBytes = 16 << 20;

// What the process did instead of answering, as a predicate of the plugin.
std::string deed(const ChildProcess::Ending& ending, std::string_view step) {
  switch (ending.kind) {
    case ChildProcess::Ending::Kind::killed:
      return fmt::format("crashed while {}: signal {} ({})", step, ending.number,
                         strsignal(ending.number));
    case ChildProcess::Ending::Kind::exited:
      if (ending.number != kNobodyListens)
        return fmt::format("ended its process while {}: exit code {}", step, ending.number);
      [[fallthrough]];
    case ChildProcess::Ending::Kind::running:
      return fmt::format("closed file descriptors that are not its own while {}", step);
    case ChildProcess::Ending::Kind::unknown:
      break;
  }
  return fmt::format("ended its process while {}", step);
}

std::string failure(ChildProcess& child, ChildProcess::Heard heard, const ProbeAnswer& answer,
                    milliseconds limit) {
  const std::string step = answer.step.empty() ? "starting" : answer.step;
  std::string text;
  if (heard == ChildProcess::Heard::too_late)
    text = fmt::format("gave no answer within {} s while {} (PRIMSET_PROBE_SECONDS sets the limit)",
                       static_cast<double>(limit.count()) / 1000, step);
  else if (heard == ChildProcess::Heard::too_much)
    text = fmt::format("wrote more than {} bytes while {}", kMaxAnswerBytes, step);
  else
    text = deed(child.ending(), step);
  const std::string words = child.last_words();
  if (!words.empty()) text += fmt::format("; it wrote: {}", words);
  return text;
}

}  // namespace

milliseconds probe_limit() {
  const char* text = std::getenv("PRIMSET_PROBE_SECONDS");
  if (!text || !*text) return std::chrono::seconds(10);
  double seconds = 0;
  const char* last = text + std::strlen(text);
  const auto [end, error] = std::from_chars(text, last, seconds);
  // Written so that NaN is refused too.
  if (error != std::errc() || end != last || !(seconds >= 0.001 && seconds <= 3600))
    throw Error(ErrorCode::value,
                fmt::format("PRIMSET_PROBE_SECONDS is \"{}\"; expected seconds from 0.001 to 3600",
                            printable(std::string_view(text))));
  return milliseconds(static_cast<int64_t>(seconds * 1000));
}

Probed probe_plugin(const fs::path& program, const PluginFile& file, milliseconds limit,
                    const LogSink& log) {
  const auto deadline = ChildProcess::Clock::now() + limit;
  ChildProcess child(program, {file.path.string()});
  ProbeAnswer answer;
  const auto heard = child.listen(deadline, kMaxAnswerBytes, [&](std::string_view line) {
    read_probe_line(line, log, answer);
    return answer.done;
  });
  if (!answer.done)
    return {fmt::format("plugin {}: {}", printable(file.path.string()),
                        failure(child, heard, answer, limit)),
            {}};
  if (!answer.error.empty()) return {answer.error, {}};
  Probed probed;
  for (ProbedDevice& device : answer.devices) {
    DeviceEntry& entry = probed.devices.emplace_back();
    // Named here: what the process says of other plugins' devices is not asked for.
    entry.name = fmt::format("{}:{}", file.name, device.index);
    entry.file = file.path;
    entry.error = std::move(device.error);
    if (entry.error.empty()) entry.description = std::move(device.description);
  }
  return probed;
}

// Of the path and the content: a plugin that was replaced is not known.
std::optional<runtime::Digest> GoodPlugins::key_of(const fs::path& file) const {
  if (!cache_ || !cache_->enabled()) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  runtime::Sha256 content;
  std::vector<char> part(1 << 16);
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())), in.gcount() > 0)
    content.add(std::string_view(part.data(), static_cast<size_t>(in.gcount())));
  if (in.bad()) return std::nullopt;
  runtime::Sha256 key;
  key.add(runtime::hex(content.finish()));
  key.add(file.string());
  return key.finish();
}

bool GoodPlugins::contains(const std::optional<runtime::Digest>& key) const {
  if (!key) return false;
  const auto found = cache_->load("probes", *key);
  return found && !found->damaged;
}

void GoodPlugins::add(const std::optional<runtime::Digest>& key) const {
  constexpr std::string_view good = "good";
  if (key)
    cache_->store("probes", *key, {reinterpret_cast<const uint8_t*>(good.data()), good.size()});
}

}  // namespace primset::plugin
