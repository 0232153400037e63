// The program as its users meet it: output, exit codes, what --help teaches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Ended {
  int code = -1;
  std::string out;  // standard output and error
};

// Through a shell, as typed.
Ended shell(const std::string& command) {
  Ended run;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return run;
  std::array<char, 4096> part;
  while (const size_t n = std::fread(part.data(), 1, part.size(), pipe))
    run.out.append(part.data(), n);
  const int status = pclose(pipe);
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

Ended primset(const std::string& arguments) {
  return shell(std::string(PRIMSET_CLI) + " " + arguments);
}

const std::vector<std::string> kCommands = {"bench", "completion", "conform", "devices", "explain",
                                            "ops",   "pack",       "prims",   "run",     "tuning"};

TEST(Cli, HelpTeachesEveryCommand) {
  const Ended all = primset("--help");
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.out, HasSubstr("Exit codes:"));
  for (const std::string& command : kCommands) {
    EXPECT_THAT(all.out, HasSubstr("  " + command + " "));
    const Ended help = primset(command + " --help");
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("Usage: primset " + command));
    EXPECT_THAT(help.out, HasSubstr("Example")) << command;
  }
}

TEST(Cli, WrongCommandLinesSayWhatIsExpected) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "Usage: primset"},
      {"bnech", "there is no command 'bnech' (did you mean 'bench'?)"},
      {"ops --foo",
       "primset ops: The following argument was not expected: --foo; see primset ops --help"},
      {"ops --family nonsense", "there is no 'nonsense'; expected one of activation"},
      {"prims --tier x", "{core,region,derived}"},
      {"explain add.Tensor --stage x", "{schema,decomposition,"},
      {"conform --shard 4/4", "'4/4' is not i/n with i < n"},
  };
  for (const auto& [arguments, expected] : cases) {
    const Ended run = primset(arguments);
    EXPECT_EQ(run.code, 2) << arguments;
    EXPECT_THAT(run.out, HasSubstr(expected)) << arguments;
  }
}

// --- plugins of strangers ------------------------------------------------------------------------

Ended devices_with(const std::string& hostile, const std::string& arguments) {
  return shell("PRIMSET_CACHE=off PRIMSET_PROBE_SECONDS=1 PRIMSET_HOSTILE='" + hostile +
               "' PRIMSET_PLUGIN_PATH=" PRIMSET_HOSTILE_DIR " " PRIMSET_CLI " devices " +
               arguments);
}

TEST(Cli, ABadPluginIsListedBesideTheOthers) {
  const std::pair<const char*, const char*> cases[] = {
      {"deed device_count exit", "ended its process while calling device_count: exit code 0"},
      {"deed device_count crash", "crashed while calling device_count: signal 11"},
      {"deed device_open sleep", "gave no answer within 1 s while opening hostile:0"},
      {"null launch", "primset_plugin.launch is NULL"},
  };
  for (const auto& [hostile, expected] : cases) {
    const Ended run = devices_with(hostile, "");
    EXPECT_EQ(run.code, 0) << hostile;
    EXPECT_THAT(run.out, HasSubstr("\ncpu:0 ")) << hostile;
    EXPECT_THAT(run.out, HasSubstr("\nhostile: plugin ")) << hostile;
    EXPECT_THAT(run.out, HasSubstr(expected)) << hostile;
  }
}

TEST(Cli, WhatAPluginSaysOfItselfReachesNoTerminal) {
  EXPECT_THAT(devices_with("text title", "").out, HasSubstr("hostile:0  \\x1b[31mred\\x1b[0m"));
  const json list = json::parse(devices_with("text title", "--json").out);
  EXPECT_EQ(list.at(0).at("title"), "\\x1b[31mred\\x1b[0m\\x0a\\xff");
  EXPECT_EQ(list.at(0).at("dtypes"), json::array({"f32"}));
}

TEST(Cli, AFolderThatOthersMayWriteIsNamedAndNotSearched) {
  const std::string folder = testing::TempDir() + "primset_cli_open_folder";
  const std::string made =
      "mkdir -p " + folder + "/primset/plugins && chmod 777 " + folder + " && ";
  const Ended run = shell(made + "XDG_DATA_HOME=" + folder + " " PRIMSET_CLI " devices");
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, HasSubstr(folder + "/primset/plugins: not searched: " + folder +
                                 " may be written by others (mode 0777)"));
  shell("rm -r " + folder);
}

TEST(Cli, FailuresNameWhatFailed) {
  const std::pair<const char*, const char*> cases[] = {
      {"explain gleu", "no operator is called 'gleu' (did you mean 'gelu'?)"},
      {"run add.Tensor nofile.npy nofile.npy", "nofile.npy: cannot be opened"},
      {"run relu", "missing value for argument 'self'"},
      {"run sofmax [[1,2]] 0", "no operator is called 'sofmax' (did you mean 'softmax'?)"},
      {"run softmax [[1.5,2]] 5 --device cpu", "\n  in softmax.int(self=f32[1, 2], dim=5)"},
      {"run add.Tensor 1 2 --arg alhpa=2", "'alhpa' (did you mean 'alpha'?)"},
      {"explain softmax --shapes 2x3 --arg dim=5", "\n  in softmax.int(self=f32[2, 3], dim=5)"},
      {"explain mm --shapes 2x3,4x5", "(2x3 and 4x5)"},
      {"explain mm --dtypes f33", "'f33': expected a dtype"},
      {"explain add.Tensor --device acme:0", "no plugin named acme; found: "},
      {"--specs /nonexistent ops", "/nonexistent"},
  };
  for (const auto& [arguments, expected] : cases) {
    const Ended run = primset(arguments);
    EXPECT_EQ(run.code, 3) << arguments;
    EXPECT_THAT(run.out, HasSubstr(expected)) << arguments;
  }
}

TEST(Cli, NothingSelectedIsNotSuccess) {
  const Ended run = primset("conform --device cpu --filter 'op/add.*'");
  EXPECT_EQ(run.code, 5);
  EXPECT_THAT(run.out, HasSubstr("no case is selected by --filter op/add.*"));
}

TEST(Cli, JsonIsJson) {
  const json devices = json::parse(primset("devices --json").out);
  EXPECT_EQ(devices.at(0).at("name"), "cpu:0");
  const json ops = json::parse(primset("ops --match softmax --json").out);
  EXPECT_EQ(ops.at(0).at("family"), "activation");
  const json prims = json::parse(primset("prims --tier region --json").out);
  EXPECT_EQ(prims.size(), 6u);
  const json stages = json::parse(primset("explain add --json").out);
  EXPECT_EQ(stages.at(0).at("stage"), "schema");
  const json result = json::parse(primset("run arange 5 --json").out);
  EXPECT_EQ(result.at(0).at("sizes"), json({5}));
  const json timed = json::parse(primset("bench relu --seconds 0.01 --json").out);
  EXPECT_GT(timed.at("median_ns").get<double>(), 0);
}

TEST(Cli, BenchTakesTurns) {
  const Ended turns =
      shell("printf '\\n\\n' | " + std::string(PRIMSET_CLI) +
            " bench embedding --dtypes f32,i64:5 --shapes 5x3,7 --seconds 0.01 --step");
  std::istringstream lines(turns.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line)) << turns.out;
  EXPECT_GT(json::parse(line).at("calls").get<int64_t>(), 0);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(std::getline(lines, line)) << turns.out;
    EXPECT_GT(std::stod(line), 0);
  }
  EXPECT_FALSE(std::getline(lines, line)) << line;
  EXPECT_EQ(turns.code, 0);
  EXPECT_THAT(primset("bench embedding --dtypes f32,f32:5 2>&1").out,
              HasSubstr("'f32:5': expected a dtype, or an integer dtype and a number"));
}

TEST(Cli, PrimitivesAreUsedAndMadeOfOneAnother) {
  for (const json& p : json::parse(primset("prims --unused --json").out))
    ADD_FAILURE() << p.at("name") << " is used by no operator";
  const json all = json::parse(primset("prims --json").out);
  EXPECT_GE(all.size(), 90u);
  for (const json& p : all) {
    const bool derived = p.at("tier") == "derived";
    EXPECT_EQ(p.at("decomposition") != "", derived) << p.at("name");
  }
}

TEST(Cli, WhatCannotBePrintedIsAnError) {
  for (const char* arguments :
       {"devices", "ops", "ops --json", "run neg '[1]'", "explain add", "prims", "tuning", "--help",
        "ops --help", "--version", "completion bash", "bench relu --seconds 0.01",
        "conform --list --tier smoke", "conform --device reference --filter neg --tier smoke"}) {
    const Ended run = shell("(" + std::string(PRIMSET_CLI) + " " + arguments + " 2>&1 >/dev/full)");
    EXPECT_EQ(run.code, 3) << arguments;
    EXPECT_THAT(run.out, HasSubstr("the standard output cannot be written: No space left"))
        << arguments;
  }
  const Ended closed = shell("(" + std::string(PRIMSET_CLI) + " devices 2>&1 >&-)");
  EXPECT_EQ(closed.code, 3);
  EXPECT_THAT(closed.out, HasSubstr("Bad file descriptor"));
}

TEST(Cli, AReaderThatHasGoneIsNoNoise) {
  const std::string line =
      "((trap '' PIPE; " + std::string(PRIMSET_CLI) + " ops --json; echo exit $? >&2) | true)";
  EXPECT_EQ(shell(line).out, "exit 3\n");
}

// Files cannot grow beyond a kilobyte here: a full disk, without one.
TEST(Cli, FilesThatCannotBeWrittenAreErrors) {
  const std::string folder = testing::TempDir() + "/primset_full_disk";
  const std::string full =
      "(mkdir -p " + folder + "; cd " + folder + "; ulimit -f 2; trap '' XFSZ; ";
  const std::string conform =
      std::string(PRIMSET_CLI) +
      " conform --device reference --jobs 1 --batch 5 --tier smoke --filter 'add.*' ";
  for (const char* option : {"--results r.jsonl", "--results r.jsonl --resume", "--html r.html",
                             "--junit r.xml", "--csv r.csv", "--save-cases r.cases"}) {
    const Ended run = shell(full + conform + option + " 2>&1 >/dev/null)");
    EXPECT_EQ(run.code, 3) << option;
    EXPECT_THAT(run.out, HasSubstr("cannot be written: File too large")) << option;
  }
  EXPECT_EQ(primset("conform --device reference --jobs 1 --tier smoke --filter 'add.*' --resume "
                    "--results " +
                    folder + "/r.jsonl")
                .code,
            0);
  const Ended array = shell(full + std::string(PRIMSET_CLI) + " run zeros 1000 --out r.npy)");
  EXPECT_EQ(array.code, 3);
  EXPECT_THAT(array.out, HasSubstr("r.npy: cannot be written: File too large"));
  EXPECT_EQ(shell("ls -A " + folder).out, "r.jsonl\n") << "what was half written is gone";
  shell("rm -r " + folder);
}

TEST(Cli, NoColourWhereNobodySeesIt) {
  for (const char* arguments : {"devices", "ops --match softmax", "explain add", "--help"})
    EXPECT_THAT(primset(arguments).out, Not(HasSubstr("\x1b["))) << arguments;
}

TEST(Cli, ABaseNameIsTheOverloadThatFits) {
  EXPECT_THAT(primset("explain add --stage schema").out, HasSubstr("add.Tensor("));
  EXPECT_THAT(primset("explain add --arg other=2 --stage schema").out, HasSubstr("add.Scalar("));
}

TEST(Cli, TensorsAreTypedAsNestedLists) {
  EXPECT_EQ(primset("run add.Tensor '[1,2]' '[[3,4],[5,6.5]]'").out,
            "[[4, 6], [6, 8.5]]  f32[2, 2] on cpu\n");
  EXPECT_EQ(primset("run numel '[3,4]'").out, "2\n");
  EXPECT_EQ(primset("run is_contiguous '[[1,2],[3,4]]'").out, "true\n");
  EXPECT_EQ(primset("run promote_types i32 f16").out, "f16\n");
  EXPECT_EQ(primset("run sum '[[1,2],[3,4]]' '[0]' true").out, "[[4, 6]]  i64[1, 2] on cpu\n");
  EXPECT_EQ(primset("run cat '[[1,2],[3]]'").out, "[1, 2, 3]  i64[3] on cpu\n");
  EXPECT_EQ(primset("run logical_not '[true,false]'").out, "[false, true]  bool[2] on cpu\n");
  EXPECT_EQ(primset("run conj_physical '[1+2j]'").out, "[(1-2j)]  c64[1] on cpu\n");
  EXPECT_EQ(primset("run neg '[]'").out, "[]  f32[0] on cpu\n");
  for (const char* wrong : {"'[[1,2],[3]]'", "'[1,[2]]'", "'[[1],2]'", "'[1,2'", "'[1,x]'"}) {
    const Ended run = primset(std::string("run neg ") + wrong);
    EXPECT_EQ(run.code, 3) << wrong;
    EXPECT_THAT(run.out, HasSubstr("expected")) << wrong;
  }
}

TEST(Cli, WhatIsNestedWithoutEndIsRefused) {
  constexpr size_t kMany = 60'000;
  const std::string list = std::string(kMany, '[') + "1" + std::string(kMany, ']');
  const Ended literal = primset("run neg '" + list + "'");
  EXPECT_EQ(literal.code, 3);
  EXPECT_THAT(literal.out, HasSubstr("nested deeper than 64"));
  const std::string groups = std::string(kMany, '(') + "a" + std::string(kMany, ')');
  const Ended filter = primset("conform --list --filter '/" + groups + "/'");
  EXPECT_EQ(filter.code, 3);
  EXPECT_THAT(filter.out, HasSubstr("expected at most 1000"));
}

TEST(Cli, ANameIsLookedForWithoutAnOption) {
  EXPECT_EQ(primset("ops add.Tensor --names").out, primset("ops --match add.Tensor --names").out);
  EXPECT_THAT(primset("prims dot_general").out, HasSubstr("dot_general"));
}

TEST(Cli, APackHoldsWhatAProgramNeeds) {
  const std::string pack = testing::TempDir() + "/primset_cli_test.pack";
  const std::string make = "pack --device cpu --out " + pack;
  const Ended made = primset(make + " -- " PRIMSET_CLI " run add.Tensor '[1,2]' '[3,4]'");
  EXPECT_EQ(made.code, 0) << made.out;
  EXPECT_THAT(made.out, HasSubstr("[4, 6]"));
  EXPECT_THAT(made.out, HasSubstr(pack + ": 1 entries"));
  const auto add_with = [&](const std::string& variables) {
    return shell("PRIMSET_CACHE=off PRIMSET_LOG=debug PRIMSET_PACK=" + pack + " " + variables +
                 " " PRIMSET_CLI " run add.Tensor '[5,7]' '[1,1]'");
  };
  const Ended packed = add_with("");
  EXPECT_THAT(packed.out, HasSubstr("[6, 8]"));
  EXPECT_THAT(packed.out, HasSubstr("pack " + pack + ": 1 kernels"));
  EXPECT_THAT(packed.out, Not(HasSubstr("bytes emitted")));
  const Ended other_device = add_with("PRIMSET_HIDE=f64");
  EXPECT_THAT(other_device.out, HasSubstr("[6, 8]"));
  EXPECT_THAT(other_device.out,
              HasSubstr("is not used: it is for the target 'f64=true', and this is 'f64=false'"));
  EXPECT_THAT(other_device.out, HasSubstr("bytes emitted"));

  EXPECT_EQ(primset("pack --device cpu --check " + pack).code, 0);
  const json check = json::parse(primset("pack --device cpu --json --check " + pack).out);
  EXPECT_EQ(check.at("plugin"), "cpu");
  EXPECT_EQ(check.at("entries"), 1);
  std::filesystem::resize_file(pack, std::filesystem::file_size(pack) - 1);
  const Ended cut = primset("pack --device cpu --check " + pack);
  EXPECT_EQ(cut.code, 1);
  EXPECT_THAT(cut.out, HasSubstr("is refused: it has "));
  std::filesystem::remove(pack);
}

TEST(Cli, APackHoldsTheSuitesCalls) {
  const std::string pack = testing::TempDir() + "/primset_cli_test_suite.pack";
  const Ended made = primset("pack --device cpu --out " + pack + " --ops add.Tensor --ops erfinv");
  EXPECT_EQ(made.code, 0) << made.out;
  const json checked = json::parse(primset("pack --device cpu --json --check " + pack).out);
  EXPECT_GE(checked.at("entries").get<int64_t>(), 4);
  std::filesystem::remove(pack);
}

TEST(Cli, WhatCannotBePackedLeavesNoFile) {
  const std::string pack = testing::TempDir() + "/primset_cli_test_none.pack";
  const std::tuple<const char*, int, const char*> cases[] = {
      {"--device cpu -- false", 3, "false ended with 1; nothing is packed"},
      {"--device cpu -- true", 1, "no kernel was compiled for cpu"},
      {"--device cpu -- /no/program", 3, "/no/program: No such file"},
      {"--device cpu --ops nonsense", 3, "no operator"},
      {"--device cpu --tier smoke -- true", 2, "expected one of --ops"},
      {"--device meta", 1, "takes no kernels"}};
  for (const auto& [arguments, code, text] : cases) {
    const Ended run = primset("pack --out " + pack + " " + arguments);
    EXPECT_EQ(run.code, code) << arguments << run.out;
    EXPECT_THAT(run.out, HasSubstr(text)) << arguments;
    EXPECT_FALSE(std::filesystem::exists(pack)) << arguments;
  }
  EXPECT_EQ(primset("pack").code, 2);
}

TEST(Cli, CompletionKnowsCommandsOptionsAndValues) {
  const std::string script = testing::TempDir() + "/primset_completion";
  std::ofstream(script) << primset("completion bash").out;
  const std::string folder =
      std::string(PRIMSET_CLI).substr(0, std::string(PRIMSET_CLI).rfind('/'));
  const auto complete = [&](const std::string& words, int at) {
    const std::string body =
        "PATH=" + folder + ":$PATH; source " + script + "; COMP_WORDS=(primset " + words +
        "); COMP_CWORD=" + std::to_string(at) + "; _primset; echo ${COMPREPLY[@]}";
    return shell("bash -c '" + body + "'").out;
  };
  EXPECT_EQ(complete("de", 1), "devices\n");
  EXPECT_THAT(complete("conform --ti", 2), StartsWith("--ti"));
  EXPECT_EQ(complete("conform --tier \"\"", 3), "smoke standard full\n");
  EXPECT_THAT(complete("explain gel", 2), StartsWith("gelu"));
  EXPECT_THAT(complete("explain --device \"\"", 3), HasSubstr("cpu:0"));
  EXPECT_EQ(complete("conform --worke", 2), "\n") << "what is hidden in --help is hidden here";
}

}  // namespace
