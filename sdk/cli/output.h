// The program's standard output: JSON on it is always UTF-8, and what could not be written is an
// error of the program.
#ifndef PRIMSET_SDK_CLI_OUTPUT_H_
#define PRIMSET_SDK_CLI_OUTPUT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace primset::cli {

// What is no UTF-8 in it is replaced.
std::string json_text(const nlohmann::json& json, int indent = -1);

// First of all: a standard descriptor that is closed would be given to the next file that is
// opened, and get what is meant for the terminal.
void occupy_standard_descriptors();

// Last of all: writes what is buffered. Returns `code`, or kError when not everything that was
// printed was written, with a message unless a reader has gone. `error` is the errno of an earlier
// failure, 0 where it is not known.
int close_standard_output(int code, int error);

}  // namespace primset::cli

#endif  // PRIMSET_SDK_CLI_OUTPUT_H_
