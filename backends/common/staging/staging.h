// Copies between host and device through staging memory, and fills made of copies: the same for
// every device whose memory the host does not see.
//
// A Stream here has
//   upload(bytes), readback(bytes)      a Piece of staging memory, bytes <= kPiece; piece.mapped is
//                                       its host address
//   copy_from(piece, to, offset, bytes, ordered), copy_to(from, offset, piece, bytes),
//   copy_inside(memory, from, to, bytes)
//                                       enqueue a copy; ordered: after all earlier work
//   flush()                             gives what is recorded to the device
//   submitted(), wait(value)            the counter of what was given, and waiting for it
#ifndef PRIMSET_BACKENDS_COMMON_STAGING_STAGING_H_
#define PRIMSET_BACKENDS_COMMON_STAGING_STAGING_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace primset_backend {

inline constexpr uint64_t kRingBytes = 16u << 20;
// A large copy goes in pieces: while the device copies one, the host works on the next.
inline constexpr uint64_t kPiece = kRingBytes / 4;

template <typename Stream, typename Memory>
void upload(Stream& stream, const Memory& to, uint64_t offset, const char* source, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes; done += kPiece) {
    const uint64_t n = std::min(kPiece, bytes - done);
    const auto piece = stream.upload(n);
    std::memcpy(piece.mapped, source + done, n);
    stream.copy_from(piece, to, offset + done, n, done == 0);
    if (n == kPiece) stream.flush();  // the device starts while the host fills the next piece
  }
}

template <typename Stream, typename Memory>
void download(Stream& stream, const Memory& from, uint64_t offset, char* target, uint64_t bytes) {
  struct Pending {
    const char* mapped = nullptr;
    uint64_t value = 0, done = 0, bytes = 0;
  } last;
  const auto finish = [&](const Pending& p) {
    if (p.bytes == 0) return;
    stream.wait(p.value);
    std::memcpy(target + p.done, p.mapped, p.bytes);
  };
  for (uint64_t done = 0; done < bytes; done += kPiece) {
    const uint64_t n = std::min(kPiece, bytes - done);
    const auto piece = stream.readback(n);
    stream.copy_to(from, offset + done, piece, n);
    stream.flush();
    finish(last);
    last = {piece.mapped, stream.submitted(), done, n};
  }
  finish(last);
}

// The shortest of 1, 2, 4, 8, 16 bytes whose repetition is the pattern.
inline uint32_t period(const unsigned char* pattern, uint32_t bytes) {
  while (bytes > 1 && std::memcmp(pattern, pattern + bytes / 2, bytes / 2) == 0) bytes /= 2;
  return bytes;
}

// Writes a short piece of the pattern from staging memory, then doubles it on the device.
template <typename Stream, typename Memory>
void fill_by_copies(Stream& stream, const Memory& to, uint64_t offset, uint64_t bytes,
                    const unsigned char* pattern, uint32_t pattern_bytes) {
  constexpr uint64_t kSeed = 64 << 10;
  const uint64_t seed = std::min(bytes, kSeed);
  const auto piece = stream.upload(seed);
  for (uint64_t i = 0; i < seed; i += pattern_bytes)
    std::memcpy(piece.mapped + i, pattern, std::min<uint64_t>(pattern_bytes, seed - i));
  stream.copy_from(piece, to, offset, seed, true);
  for (uint64_t done = seed; done < bytes;) {
    const uint64_t n = std::min(done, bytes - done);
    stream.copy_inside(to, offset, offset + done, n);
    done += n;
  }
}

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_STAGING_STAGING_H_
