// What `primset` does with its command line, from the first argument to the exit code.
#ifndef PRIMSET_SDK_CLI_PROGRAM_H_
#define PRIMSET_SDK_CLI_PROGRAM_H_

namespace primset::cli {

// Arguments as main() has them; never throws. Returns an ExitCode of command.h.
int program(int argc, char** argv);

}  // namespace primset::cli

#endif  // PRIMSET_SDK_CLI_PROGRAM_H_
