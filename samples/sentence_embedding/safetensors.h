// Reads .safetensors files: eight bytes of header length, a JSON header that names each tensor's
// dtype, shape and place, then the data.
//
// The file is mapped, not read: opening one of any size takes no memory, and pages come in when a
// tensor is copied to its device. Nothing of the header is believed before it is checked.
#ifndef PRIMSET_SAMPLES_SENTENCE_EMBEDDING_SAFETENSORS_H_
#define PRIMSET_SAMPLES_SENTENCE_EMBEDDING_SAFETENSORS_H_

#include <primset/dtype.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace sentence_embedding {

struct StoredTensor {
  primset::DType dtype;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;  // row-major, little-endian; no alignment promised
};
using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;

// The tensors of a file's bytes, which the results point into. Throws std::runtime_error that says
// which tensor is wrong, what was seen and what was expected. As the format demands, the tensors
// fill the data section without gap or overlap.
StoredTensors parse_safetensors(std::span<const std::byte> file);

// A file and its tensors; they live as long as this object.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const StoredTensors& tensors() const { return tensors_; }
  // Throws std::runtime_error when there is none of that name.
  const StoredTensor& tensor(std::string_view name) const;

 private:
  std::string path_;
  std::span<const std::byte> bytes_;
  StoredTensors tensors_;
};

}  // namespace sentence_embedding

#endif  // PRIMSET_SAMPLES_SENTENCE_EMBEDDING_SAFETENSORS_H_
