// The interpreter's memory: regions (global buffers, workgroup and private arrays) with a shadow
// for every byte that says whether it was initialised and who touched it last.
#ifndef PRIMSET_CODEGEN_KERNEL_INTERPRETER_MEMORY_H_
#define PRIMSET_CODEGEN_KERNEL_INTERPRETER_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/kernel/interpreter/interpreter.h"

namespace primset::kir::interp {

// Who accesses: the workgroup's linear number, the thread's number in it, and how many barriers the
// group has passed. Two accesses of one group are ordered when a barrier lies between them; those
// of different groups never are.
struct Accessor {
  uint32_t group = 0, thread = 0, epoch = 0;
};

enum class Access : uint8_t { read, write, atomic };

// The last accesses of one kind to one byte, as far as a later one may conflict with them.
class History {
 public:
  void add(const Accessor& who);
  // Someone else did it without a barrier in between.
  bool conflicts(const Accessor& who) const;
  // That someone, for the message: "thread 3 of group 0".
  std::string last() const;

 private:
  uint32_t group_ = 0;  // number + 1; 0: nobody
  uint32_t thread_ = 0, epoch_ = 0;
  bool many_threads_ = false;  // in this epoch
  bool many_groups_ = false;
};

struct ByteHistory {
  History reads, writes, atomics;
};

struct Region {
  std::byte* base = nullptr;
  uint64_t size = 0;
  uint8_t* initialized = nullptr;  // a flag a byte; null: all are
  ByteHistory* history = nullptr;  // null: not shared, or races are not looked for
  bool global = false;             // a buffer's: no barrier orders what is written there
  std::string name;
};

// A place in memory: a host address and the region it was derived from.
struct Pointer {
  uint64_t address = 0;
  uint64_t region = 0;
};
inline constexpr uint64_t kNoRegion = UINT64_MAX;

struct MemoryFault {
  std::string what;
};

class Memory {
 public:
  // Buffers are flagged back by write_back_flags().
  Memory(std::span<InterpreterBuffer> buffers, std::span<const std::string> names,
         bool check_races);

  Pointer buffer(uint32_t index) const;
  // The buffer that holds the address, or no region.
  Pointer find(uint64_t address) const;

  // Workgroup and private arrays, which begin uninitialised. They live until release_arrays().
  Pointer add_array(uint64_t size, bool shared, std::string name);
  void release_arrays();

  // Checks an access of `size` bytes at `offset` bytes past p and records it; gives its place.
  // Throws MemoryFault.
  std::byte* access(Pointer p, uint64_t offset, uint32_t size, uint32_t align, Access kind,
                    const Accessor& who);

  void write_back_flags();

 private:
  // Buffers that overlap share one shadow.
  struct Shadow {
    uint64_t begin = 0, end = 0;
    std::vector<uint8_t> initialized;
    std::vector<ByteHistory> history;
  };
  struct Array {
    std::unique_ptr<std::byte[]> data;
    std::vector<uint8_t> initialized;
    std::vector<ByteHistory> history;
  };

  void make_shadows(bool check_races);
  Shadow& shadow_of(const Region& r);
  void attach_shadow(size_t buffer);
  void check_initialized(const Region& r, uint64_t at, uint32_t size) const;
  void check_race(const Region& r, uint64_t at, uint32_t size, Access kind, const Accessor& who);

  std::span<InterpreterBuffer> buffers_;
  bool check_races_;
  std::vector<Region> regions_;  // buffers first, then arrays
  std::vector<Shadow> shadows_;
  std::vector<Array> arrays_;
};

}  // namespace primset::kir::interp

#endif  // PRIMSET_CODEGEN_KERNEL_INTERPRETER_MEMORY_H_
