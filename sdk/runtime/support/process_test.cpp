// What only whole processes show: a second start finds its kernels on disk, whatever was done to
// the cache in between; a plugin that fails at any call ends in an error and never in a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "sdk/runtime/cache/disk_cache.h"

namespace primset::runtime {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;
using Environment = std::map<std::string, std::string>;

// A process of testdata/child.cpp.
class Child {
 public:
  Child(std::vector<std::string> args, const Environment& environment, const fs::path& output)
      : output_(output) {
    args.insert(args.begin(), PRIMSET_TEST_CHILD);
    pid_ = fork();
    if (pid_ != 0) return;
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    if (!freopen((output.string() + ".out").c_str(), "w", stdout)) _exit(126);
    if (!freopen((output.string() + ".err").c_str(), "w", stderr)) _exit(126);
    std::vector<char*> argv;
    for (std::string& a : args) argv.push_back(a.data());
    argv.push_back(nullptr);
    alarm(60);  // a process that hangs is killed, which its exit code tells
    execv(argv[0], argv.data());
    _exit(127);
  }
  void kill() const { ::kill(pid_, SIGKILL); }
  // The exit code; 128 + the signal's number when one ended it.
  int wait() const {
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string out() const { return read(output_.string() + ".out"); }
  std::string err() const { return read(output_.string() + ".err"); }

 private:
  static std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path output_;
  pid_t pid_;
};

struct Outcome {
  std::string values;   // what was computed
  std::string kernels;  // where the kernels came from
};

class ProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ("primset_process_test_" + std::to_string(getpid()) + "_" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    environment_["PRIMSET_CACHE"] = cache().string();
    environment_["PRIMSET_FALLBACK"] = "error";
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path cache() const { return folder_ / "cache"; }
  Child start(std::vector<std::string> args, const std::string& name = "child") const {
    return Child(std::move(args), environment_, folder_ / name);
  }
  static Outcome result_of(const Child& child) {
    EXPECT_EQ(child.wait(), 0) << child.err();
    const std::string text = child.out();
    const size_t at = text.find("kernels: ");
    return {text.substr(0, at), at == std::string::npos ? "" : text.substr(at)};
  }
  Outcome run() const { return result_of(start({"run"})); }

  std::vector<fs::path> entries(const char* extension = ".psk") const {
    std::vector<fs::path> files;
    std::error_code error;  // the folder may not be there yet, and files come and go
    fs::recursive_directory_iterator it(cache() / "kernels", error), end;
    for (; !error && it != end; it.increment(error)) {
      if (it->path().extension() == extension) files.push_back(it->path());
    }
    return files;
  }

  fs::path folder_;
  Environment environment_;
};

std::string counts(size_t compiled, size_t from_disk, size_t rejected) {
  return "kernels: " + std::to_string(compiled) + " compiled, " + std::to_string(from_disk) +
         " from disk, " + std::to_string(rejected) + " rejected\n";
}

TEST_F(ProcessTest, ASecondStartCompilesNothing) {
  const Outcome first = run();
  const size_t kernels = entries().size();
  ASSERT_GE(kernels, 4u);
  EXPECT_EQ(first.kernels, counts(kernels, 0, 0));
  const Outcome second = run();
  EXPECT_EQ(second.kernels, counts(0, kernels, 0));
  EXPECT_EQ(second.values, first.values);
}

TEST_F(ProcessTest, DamagedEntriesAreRebuilt) {
  const Outcome first = run();
  const std::vector<fs::path> files = entries();
  const size_t kernels = files.size();
  for (const fs::path& f : files) fs::resize_file(f, fs::file_size(f) / 2);
  Outcome again = run();
  EXPECT_EQ(again.kernels, counts(kernels, 0, kernels));
  EXPECT_EQ(again.values, first.values);
  for (const fs::path& f : files) {
    std::fstream file(f, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(f) - 1));
    file.put('\x5a');
    file.seekp(60);
    file.put('\x5a');
  }
  again = run();
  EXPECT_EQ(again.kernels, counts(kernels, 0, kernels));
  EXPECT_EQ(again.values, first.values);
  for (const fs::path& f : files) fs::resize_file(f, 0);
  again = run();
  EXPECT_EQ(again.kernels, counts(kernels, 0, kernels));
  EXPECT_EQ(run().kernels, counts(0, kernels, 0));
}

TEST_F(ProcessTest, ACacheThatCannotBeWrittenIsDoneWithout) {
  std::ofstream(cache()) << "a file where the folder should be";
  const Outcome first = run();
  EXPECT_THAT(first.kernels, HasSubstr(" 0 from disk, 0 rejected"));
  EXPECT_EQ(run().values, first.values);
  environment_["PRIMSET_CACHE"] = "off";
  EXPECT_EQ(run().kernels, first.kernels);
}

TEST_F(ProcessTest, ProcessesShareOneCache) {
  std::vector<Child> children;
  for (int i = 0; i < 3; ++i) children.push_back(start({"run"}, "child" + std::to_string(i)));
  std::vector<Outcome> runs;
  for (const Child& c : children) runs.push_back(result_of(c));
  for (const Outcome& r : runs) EXPECT_EQ(r.values, runs[0].values);
  EXPECT_THAT(run().kernels, StartsWith("kernels: 0 compiled"));
}

TEST_F(ProcessTest, AProcessKilledInTheMiddleOfAWriteLeavesWholeEntries) {
  size_t seen = 0;
  for (int round = 0; round < 12; ++round) {
    fs::remove_all(cache());
    const Child child = start({"store", cache().string()});
    // From when it writes on, at some time or other.
    for (int i = 0; i < 2000 && entries().empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::microseconds(700 * round));
    child.kill();
    EXPECT_EQ(child.wait(), 128 + SIGKILL) << child.err();
    const DiskCache disk(cache());
    for (int i = 0; i < 256; ++i) {
      const auto byte = static_cast<uint8_t>(i);
      const auto found = disk.load("kernels", sha256(std::span<const uint8_t>(&byte, 1)));
      if (!found) continue;
      ++seen;
      EXPECT_FALSE(found->damaged);
      EXPECT_EQ(found->bytes, std::vector<uint8_t>(1 << 20, byte));
    }
  }
  EXPECT_GT(seen, 0u);
}

// With an empty cache, and with none.
TEST_F(ProcessTest, APackServesWhatItHolds) {
  const Outcome first = run();
  const size_t kernels = entries().size();
  const std::string pack = (folder_ / "all.pack").string();
  const Child packing = start({"pack", pack});
  ASSERT_EQ(packing.wait(), 0) << packing.err();
  for (const std::string& cache : {(folder_ / "empty").string(), std::string("off")}) {
    environment_["PRIMSET_CACHE"] = cache;
    const Outcome packed = result_of(start({"packed", pack}));
    EXPECT_EQ(packed.kernels, counts(0, 0, 0) + std::to_string(kernels) + " from the pack\n");
    EXPECT_EQ(packed.values, first.values);
  }
  environment_["PRIMSET_PACK"] = "/none.pack:" + pack;
  const Child named = start({"run"});
  EXPECT_EQ(result_of(named).kernels, counts(0, 0, 0));
  EXPECT_THAT(named.err(), HasSubstr("pack /none.pack is not used: No such file"));
}

// It is no error of the calls: they compile.
TEST_F(ProcessTest, ADamagedPackIsRefused) {
  const Outcome first = run();
  const size_t kernels = entries().size();
  const fs::path pack = folder_ / "all.pack";
  ASSERT_EQ(start({"pack", pack.string()}).wait(), 0);
  environment_["PRIMSET_CACHE"] = "off";
  environment_["PRIMSET_PACK"] = pack.string();
  {
    std::fstream file(pack, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-200, std::ios::end);
    std::string end(200, 0);
    file.read(end.data(), 200);
    for (char& c : end) c = static_cast<char>(c ^ 4);
    file.seekp(-200, std::ios::end);
    file << end;
  }
  const Child flipped = start({"run"});
  const Outcome outcome = result_of(flipped);
  EXPECT_EQ(outcome.values, first.values);
  EXPECT_THAT(outcome.kernels, testing::Not(StartsWith("kernels: 0 compiled")));
  EXPECT_THAT(flipped.err(), HasSubstr("is damaged"));
  fs::resize_file(pack, fs::file_size(pack) - 1);
  const Child cut = start({"run"});
  EXPECT_EQ(result_of(cut).kernels, counts(kernels, 0, 0));
  EXPECT_THAT(cut.err(), HasSubstr("is not used: it has "));
  const Child used = start({"packed", pack.string()});
  EXPECT_EQ(used.wait(), 3);
  EXPECT_THAT(used.err(), HasSubstr("value: use_pack: " + pack.string() + ": it has "));
}

TEST_F(ProcessTest, InferredBarriersGiveTheSameBitsAsFullOnes) {
  auto digest = [&] {
    const Child child = start({"overlap"});
    EXPECT_EQ(child.wait(), 0) << child.err();
    EXPECT_THAT(child.err(), testing::Not(HasSubstr("validation:")));
    return child.out();
  };
  environment_["PRIMSET_OVERLAP"] = "0";
  const std::string full = digest();
  EXPECT_THAT(full, StartsWith("digest: "));
  environment_["PRIMSET_OVERLAP"] = "1";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(digest(), full);
  environment_["PRIMSET_VALIDATE"] = "1";  // the hazard check sees each launch
  EXPECT_EQ(digest(), full);
}

// --- plugins that fail ---------------------------------------------------------------------------

class BrokenPlugin : public ProcessTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(BrokenPlugin, EndsInAnErrorThatNamesIt) {
  environment_["PRIMSET_PLUGIN_PATH"] = std::string(PRIMSET_MOCK_DIR) + "/" + GetParam();
  environment_["PRIMSET_DEVICE"] = "mock:0";
  const Child child = start({"run"});
  EXPECT_EQ(child.wait(), 3);
  EXPECT_THAT(child.err(), HasSubstr("mock"));
}

INSTANTIATE_TEST_SUITE_P(Mocks, BrokenPlugin,
                         ::testing::Values("no_symbol", "wrong_version", "refuses_version",
                                           "no_table", "short_table", "null_function", "bad_name",
                                           "other_name", "all_errors", "errors_when_open",
                                           "no_memory", "no_handle", "bad_properties",
                                           "bad_extension", "bad_status"),
                         [](const auto& info) { return std::string(info.param); });

// Every function of the table fails in turn, at its first calls and at later ones, on a device that
// works. The program ends well where the call was not needed or could be repeated, else with an
// error that says which call failed.
class FailingCall : public ProcessTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(FailingCall, EndsInAnErrorThatNamesTheCall) {
  const std::string call = GetParam();
  result_of(start({"run"}));  // fills the cache
  for (const std::string status : {"out_of_memory", "device_lost"}) {
    for (int nth : {1, 2, 5}) {
      environment_["PRIMSET_FAULTS"] = call + ":" + std::to_string(nth) + "=" + status;
      const Child child = start({"run"});
      const int code = child.wait();
      EXPECT_TRUE(code == 0 || code == 3)
          << environment_["PRIMSET_FAULTS"] << " ended with " << code << ":\n"
          << child.err();
      if (code == 3) {
        EXPECT_THAT(child.err(), HasSubstr("injected fault of " + call));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, FailingCall,
                         ::testing::Values("device_count", "device_open", "device_properties",
                                           "memory_alloc", "copy_in", "copy_out", "copy", "fill",
                                           "stream_create", "stream_synchronize", "event_create",
                                           "module_load", "module_kernel", "launch"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace primset::runtime
