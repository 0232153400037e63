// Runs kernels of simple PTX on the host: straight lines of integer instructions, branches, loads
// and stores, as the plugin's own kernels have them (kernels/matrix_kernels_ptx.h). Threads run one
// after another, so that none may wait for another.
#ifndef PRIMSET_BACKENDS_CUDA_TESTING_PTX_INTERPRETER_H_
#define PRIMSET_BACKENDS_CUDA_TESTING_PTX_INTERPRETER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fake_cuda {

class PtxKernel {
 public:
  // Throws std::runtime_error that quotes what it does not understand.
  PtxKernel(const std::string& ptx, const std::string& name);

  // Whether the bytes at the address may be accessed.
  using Allowed = std::function<bool(uint64_t address, size_t bytes)>;
  // One launch of one-dimensional groups; `params` is the parameter block.
  void run(unsigned groups, unsigned threads, const std::string& params,
           const Allowed& allowed) const;

 private:
  enum class Place : uint8_t { reg, constant, param, group, threads, thread };
  struct Operand {
    Place place = Place::constant;
    uint64_t value = 0;  // a register's or parameter's number
    int64_t offset = 0;  // of an address in brackets
  };
  struct Instruction {
    std::string text;                // "setp.ge.u64"
    std::vector<std::string> parts;  // {"setp", "ge", "u64"}
    std::vector<Operand> operands;
    int predicate = -1;
    bool negated = false;
    size_t target = 0;  // of a branch
  };
  struct Thread;

  void read_parameters(const std::string& text);
  void read_body(const std::string& text);
  void read_statement(std::string statement, std::map<size_t, std::string>& branches,
                      std::map<std::string, size_t>& labels);
  Operand read_operand(std::string text) const;
  bool step(Thread& t, const Instruction& i) const;

  std::map<std::string, uint64_t> parameters_, registers_;
  std::vector<Instruction> instructions_;
};

}  // namespace fake_cuda

#endif  // PRIMSET_BACKENDS_CUDA_TESTING_PTX_INTERPRETER_H_
