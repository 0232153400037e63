// A kernel under construction: parameters, loop variables, memory accesses, error reports.
// Schedules open the loops; ElementEmitter (element/element.h) fills their bodies.
//
// Addresses, indices and strides count elements of the accessed dtype. A frame builds one kernel
// and is used by one thread.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LOOPS_FRAME_H_
#define PRIMSET_CODEGEN_SCHEDULE_LOOPS_FRAME_H_

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/kernel/ir/builder.h"
#include "codegen/schedule/element/element_value.h"
#include "codegen/schedule/element/index.h"
#include "codegen/schedule/program/program.h"
#include "codegen/schedule/tuning/machine.h"

namespace primset::schedule {

// The widest memory access of a thread.
inline constexpr uint32_t kVectorBytes = 16;

// One loop of the kernel after merging: `dims` dimensions of the domain, outermost first, iterated
// as one.
struct LoopDim {
  std::vector<size_t> dims;
  SymInt size = 1;
  kir::Value base;     // index-typed scalar: the loop variable, of lane 0 where it has lanes
  bool lanes = false;  // true: lane l is at base + l
};

// How the addresses of a vector's lanes relate.
enum class LaneAccess : uint8_t {
  same,        // uniform: one element; also with one lane
  contiguous,  // elements side by side
  strided,     // a constant stride apart
  gathered,    // at computed indices
};

// A memory access of the kernel, recorded in the first build, in which no dimensions are merged.
struct AccessRecord {
  BufferId buffer;
  Affine address;  // over the dimensions of the domain
  bool store;
  DType dtype = DType::f32;
  LaneAccess lanes = LaneAccess::same;
  bool masked = false;        // under a condition
  bool lanes_masked = false;  // under a condition that may differ between lanes
};
// Do both access the same elements?
bool same_access(const AccessRecord& a, const AccessRecord& b);

// An element of `padded` lies in the padding unless 0 <= index < size.
struct PaddingTest {
  prims::ValueId padded;
  Affine index;  // over the dimensions of the domain
  SymInt size;
};

struct Analysis {
  std::vector<AccessRecord> accesses;
  std::vector<PaddingTest> padding;  // those that depend on loop variables alone
  std::vector<bool> pinned;  // by dimension of the domain: it must keep a variable of its own
};

class Frame {
 public:
  // The machine outlives the frame.
  Frame(std::string name, const Machine& machine, bool index32, SymInts domain);

  kir::Builder& builder() { return builder_; }
  const kir::TargetModel& target() const { return builder_.target(); }
  const Tuning& tuning() const { return machine_.tuning; }
  kir::Type index_type() const { return index_type_; }
  kir::Value index_constant(int64_t v) { return builder_.constant(index_type_, v); }
  // An integer of any width as an index.
  kir::Value index(kir::Value v) { return builder_.int_resize(v, index_type_.scalar, true); }
  const SymInts& domain() const { return domain_; }

  // --- parameters ---
  kir::Value buffer(BufferId id, bool read, bool written);
  kir::Value param(const SymInt& s);  // index type, one lane
  // An integer that is no index: i64 where the device has it.
  kir::Value number_param(const SymInt& s);
  ElementValue scalar_input(uint32_t graph_input, DType dtype);
  // From here on a symbol is the counter of a loop of the kernel: an index. What is made of it has
  // to be linear in it (counter_is_linear).
  void set_counter(uint32_t symbol, kir::Value counter) { counter_ = {{symbol, counter}}; }
  bool counter_is_linear() const { return counter_is_linear_; }

  // --- the loop nest in force ---
  void set_loops(std::vector<LoopDim> loops) { loops_ = std::move(loops); }
  std::vector<LoopDim>& loops() { return loops_; }
  uint16_t lanes() const { return lanes_; }
  void set_lanes(uint16_t lanes) { lanes_ = lanes; }
  // Which lanes (with one lane: whether the thread) are inside the domain; invalid: all.
  kir::Value mask() const { return mask_; }
  void set_mask(kir::Value mask) { mask_ = mask; }
  // A CPU of 32-byte vectors has 16 registers and no mask registers: a masked store takes as long
  // as ten others.
  bool narrow_vectors() const { return !target().simt && target().vector_bytes < 64; }
  // A loop over vectors, of which each has a lane inside: so many elements are left from the first
  // lane on, or invalid: all lanes are inside.
  void set_loop_rest(kir::Value rest);
  kir::Value mask_and(kir::Value condition);  // the current mask and another condition
  kir::Value any(kir::Value condition);       // i1: does some lane of the mask have it?
  // The same for the lanes of a SIMT thread whose first lane is inside. `all_active` (i1): all
  // lanes are inside and their vectors are aligned.
  void set_mask(kir::Value mask, kir::Value all_active) {
    mask_ = all_active_mask_ = mask;
    all_active_ = all_active;
  }

  // The value of an affine form: one lane where it is uniform. Pins the dimensions that it uses.
  kir::Value materialize(const Affine& a);
  // Of a CPU's vector whose lanes are consecutive numbers the first one; invalid: they are not.
  kir::Value first_of_consecutive(const Affine& a);
  // Index-typed sums and products that keep constant and uniform parts separate.
  Affine add(const Affine& a, const Affine& b);
  Affine scale(const Affine& a, const SymInt& factor);

  // --- memory --- addresses count elements of the dtype
  // An element in its memory type (two values for complex), by one lane without a mask.
  std::vector<kir::Value> fetch(const AccessRecord& a);
  // Load forwarding: called before each load for the values, where registers hold them already;
  // empty: the load is emitted.
  using ForwardLoad = std::function<std::vector<kir::Value>(const AccessRecord&)>;
  void set_forward_load(ForwardLoad forward) { forward_load_ = std::move(forward); }
  // The same of stores: is the element, in its memory type, taken care of? Else it is stored.
  using ForwardStore = std::function<bool(const AccessRecord&, const std::vector<kir::Value>&)>;
  void set_forward_store(ForwardStore forward) { forward_store_ = std::move(forward); }
  // An element in its memory type.
  void put(const AccessRecord& a, const std::vector<kir::Value>& element);
  // Called after each load with what it has read, in the same form.
  using OnLoad = std::function<void(const AccessRecord&, const std::vector<kir::Value>&)>;
  void set_on_load(OnLoad on_load) { on_load_ = std::move(on_load); }
  // Whether loops prefetch (on CPUs; initially true).
  void set_prefetches(bool on) { prefetches_ = on; }
  bool prefetches() const { return prefetches_ && !target().simt && !narrow_vectors(); }
  // Asks for a vector that will be loaded soon. The address may be outside.
  void prefetch(BufferId id, DType dtype, const Affine& address);
  // strict: a load that is masked off reads nothing, not even another element: there may be none,
  // or one that another thread is writing.
  ElementValue load(BufferId id, DType dtype, const Affine& address, bool strict = false);
  void store(BufferId id, DType dtype, const Affine& address, const ElementValue& value);

  // Writes check `site` and `value` to the error slot where `bad` (i1) and the mask hold.
  void report(uint32_t site, kir::Value bad, kir::Value value, DType value_dtype);
  void set_error_buffer(BufferId id) { error_buffer_ = id; }

  // --- results ---
  Analysis& analysis() { return analysis_; }
  LaunchStep& step() { return step_; }
  kir::Kernel finish() && { return std::move(builder_).finish(); }

 private:
  struct Place {                       // an address, prepared for one access
    kir::Value scalar;                 // index type, one lane
    std::optional<int64_t> lane_step;  // elements from lane to lane, where constant
    kir::Value lane_vector;  // else: offsets of the lanes, added to scalar; may be invalid
  };
  Place place(const Affine& address);
  Place touch(BufferId id, DType dtype, const Affine& address, bool store);
  bool lanes_masked() const { return mask_.valid() && builder_.type(mask_).lanes > 1; }
  // On a SIMT device the caller that sets several lanes guarantees that their vectors are aligned,
  // or passes the condition under which they are.
  bool is_contiguous(const Place& p) const;
  bool may_be_all_active() const { return lanes_masked() && all_active_.valid(); }
  kir::Value all_lanes_active();  // i1: all lanes of the current mask are set
  template <typename Body>
  auto unmasked(Body body);
  kir::Value load_neighbours(kir::Value pointer, kir::Scalar elem, const Place& p, int64_t stride);
  struct Pairs {
    kir::Value first, mask;
    bool backwards;
  };
  Pairs pairs_at(const Place& p);
  bool has_pairs(DType dtype, const Place& p) const;
  std::vector<kir::Value> load_pairs(kir::Value pointer, kir::Scalar elem, const Place& p);
  void store_pairs(kir::Value pointer, const Place& p, const ElementValue& value);
  std::vector<kir::Value> load_parts(kir::Value pointer, DType dtype, const Place& p);
  std::vector<kir::Value> load_elements(kir::Value pointer, DType dtype, const Place& p);
  void store_parts(kir::Value pointer, DType dtype, const Place& p, const ElementValue& value);
  std::vector<kir::Value> load_vectors(kir::Value pointer, DType dtype, const Place& p);
  void store_vectors(kir::Value pointer, DType dtype, const Place& p, const ElementValue& value);
  kir::Value load_vector(kir::Value pointer, kir::Scalar elem, kir::Value index, uint16_t lanes);
  void store_vector(kir::Value pointer, kir::Value index, kir::Value v);
  void prefetch_page_ahead(kir::Value pointer, kir::Scalar elem, kir::Value index, bool to_write);
  kir::Value load_part(kir::Value pointer, DType dtype, const Place& p, int64_t stride,
                       int64_t part);
  void store_part(kir::Value pointer, DType dtype, const Place& p, int64_t stride, int64_t part,
                  kir::Value v);
  kir::Value vector_of(const Place& p);
  kir::Value mask_vector();

  const Machine& machine_;
  kir::Builder builder_;
  kir::Type index_type_;
  SymInts domain_;
  std::vector<LoopDim> loops_;
  uint16_t lanes_ = 1;
  kir::Value mask_, loop_mask_, loop_rest_, all_active_mask_, all_active_;
  std::vector<kir::Value> pointers_;
  kir::Value integer_param(const SymInt& s, kir::Type type,
                           std::unordered_map<uint32_t, kir::Value>& known);

  struct Counter {
    uint32_t symbol;
    kir::Value value;
  };
  // s where it depends on the counter.
  std::optional<kir::Value> counted(const SymInt& s, kir::Type type);

  std::optional<Counter> counter_;
  bool counter_is_linear_ = true;
  std::unordered_map<uint32_t, kir::Value> params_, number_params_;
  std::unordered_map<uint32_t, ElementValue> inputs_;  // as they are passed
  bool prefetches_ = true;
  std::optional<BufferId> error_buffer_;
  kir::Value error_base_;
  ForwardLoad forward_load_;
  ForwardStore forward_store_;
  OnLoad on_load_;
  bool strict_ = false;  // the load at hand
  Analysis analysis_;
  LaunchStep step_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_FRAME_H_
