// The softmax of attention, for some queries and a block of keys at a time: the greatest score and
// the sum of weights of a row are carried from block to block (Dao et al., FlashAttention, 2022).
#ifndef PRIMSET_BACKENDS_CPU_ATTENTION_SOFTMAX_ROWS_H_
#define PRIMSET_BACKENDS_CPU_ATTENTION_SOFTMAX_ROWS_H_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/cpu/bf16.h"
#include "backends/cpu/vector_code.h"

namespace primset_cpu {

inline constexpr int kSoftmaxLanes = 16;

// e^x of an x that is not positive, within 2 ulp; what is below 2^-126 is 0. By Cody and Waite's
// reduction and a Taylor polynomial of degree 7 (|r| <= ln 2 / 2: its error is 2^-27).
PRIMSET_INLINE float exp_of_negative(float x) {
  constexpr float kLog2E = 0x1.715476p+0f, kHigh = 0x1.62e4p-1f, kLow = 0x1.7f7d1cp-20f;
  constexpr float kRound = 0x1.8p+23f;  // adding it leaves the nearest integer in the low bits
  const float least = x < -87.0f ? -87.0f : x;
  const float shifted = least * kLog2E + kRound, n = shifted - kRound;
  const float r = least - n * kHigh - n * kLow;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r * r + r + 1.0f;
  const auto power = std::bit_cast<uint32_t>(shifted) + 127 - std::bit_cast<uint32_t>(kRound);
  const float e = p * std::bit_cast<float>(power << 23);
  return x < -87.0f ? 0.0f : e;
}

template <typename To, typename From>
PRIMSET_INLINE To converted(From x) {
  if constexpr (std::is_same_v<To, From>) return x;
  return float_of(x);
}

// The greater one; NaN where either is.
PRIMSET_INLINE float greater(float a, float b) {
  return a > b || a != a ? a : b;
}

// What is carried of a row.
struct RowState {
  float greatest = -std::numeric_limits<float>::infinity();
  float sum = 0;
};

// The part of a row of scores that a block of keys gives, and where the weights go that multiply
// values of type P. Scores from `visible` on are hidden. `stride` is the mask's, which either hides
// keys or is added.
template <typename T, typename P>
struct ScoreRow {
  float* scores;
  P* weights;
  int64_t keys, visible;
  float scale;
  const bool* hides = nullptr;  // false: the key is hidden
  const T* added = nullptr;
  int64_t stride = 0;
};

// The scores as the softmax takes them. Returns the greatest.
template <typename T, typename P>
PRIMSET_INLINE float masked_scores(const ScoreRow<T, P>& r) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  for (int64_t j = 0; j < r.keys; ++j) r.scores[j] *= r.scale;
  if (r.hides)
    for (int64_t j = 0; j < r.keys; ++j) r.scores[j] = r.hides[j * r.stride] ? r.scores[j] : kNone;
  if (r.added)
    for (int64_t j = 0; j < r.keys; ++j) r.scores[j] += float_of(r.added[j * r.stride]);
  for (int64_t j = r.visible; j < r.keys; ++j) r.scores[j] = kNone;
  float lanes[kSoftmaxLanes];
  for (float& l : lanes) l = kNone;
  int64_t j = 0;
  for (; j + kSoftmaxLanes <= r.keys; j += kSoftmaxLanes)
    for (int l = 0; l < kSoftmaxLanes; ++l) lanes[l] = greater(r.scores[j + l], lanes[l]);
  for (; j < r.keys; ++j) lanes[0] = greater(r.scores[j], lanes[0]);
  float out = kNone;
  for (const float l : lanes) out = greater(l, out);
  return out;
}

// Makes weights of the scores and takes them into the state. Returns what earlier sums and results
// of the row are multiplied by.
template <typename T, typename P>
PRIMSET_INLINE float softmax_step(const ScoreRow<T, P>& r, RowState& state) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  const float greatest = greater(masked_scores(r), state.greatest);
  const float shift = greatest == kNone ? 0.0f : greatest;  // all are hidden so far
  float lanes[kSoftmaxLanes] = {};
  int64_t j = 0;
  for (; j + kSoftmaxLanes <= r.keys; j += kSoftmaxLanes) {
    for (int l = 0; l < kSoftmaxLanes; ++l) {
      const float w = exp_of_negative(r.scores[j + l] - shift);
      lanes[l] += w;
      put(w, r.weights[j + l]);
    }
  }
  for (; j < r.keys; ++j) {
    const float w = exp_of_negative(r.scores[j] - shift);
    lanes[0] += w;
    put(w, r.weights[j]);
  }
  float sum = 0;
  for (int half = kSoftmaxLanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  sum = lanes[0];
  const float factor = exp_of_negative(state.greatest - shift);
  state.sum = state.sum * factor + sum;
  state.greatest = greatest;
  return factor;
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_ATTENTION_SOFTMAX_ROWS_H_
