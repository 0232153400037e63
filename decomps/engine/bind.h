// Binds actual arguments to traced values: which become graph inputs, and the source of each input.
#ifndef PRIMSET_DECOMPS_ENGINE_BIND_H_
#define PRIMSET_DECOMPS_ENGINE_BIND_H_

#include <map>
#include <string>
#include <vector>

#include "decomps/engine/apply.h"
#include "decomps/engine/engine.h"
#include "specs/bundle/model.h"

namespace primset::decomps {

class Binder {
 public:
  Binder(Tracer& t, const specs::Overload& overload, const std::vector<Actual>& args)
      : t_(t), overload_(overload), args_(args) {}

  // One argument for each of the schema; out= arguments are None.
  Arguments bind();
  RngArg default_generator();
  std::vector<InputSource>& sources() { return sources_; }
  // The graph input of this tensor; created on first use.
  uint32_t input_of(const TensorMeta& meta, uint32_t argument, uint32_t element);

 private:
  Tracer::Argument bind_one(uint32_t index);
  Val tensor(const TensorMeta& meta, uint32_t index, uint32_t element);
  ScalarArg scalar(const Scalar& s, uint32_t index, uint32_t element);
  Val scalar_input(std::string name, DType dtype, InputSource source);
  std::string input_name(uint32_t index, uint32_t element, bool list) const;
  RngArg generator(uint32_t index);

  Tracer& t_;
  const specs::Overload& overload_;
  const std::vector<Actual>& args_;
  std::vector<InputSource> sources_;
  std::map<uint32_t, uint32_t> input_of_identity_;
};

// Removes graph inputs that are neither used nor written.
void drop_unused_inputs(prims::Graph& graph, std::vector<InputSource>& sources);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_BIND_H_
