#include "sdk/cli/program.h"

int main(int argc, char** argv) {
  return primset::cli::program(argc, argv);
}
