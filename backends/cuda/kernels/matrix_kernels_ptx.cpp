// Numbers are words of 32 bits here, so that one kernel serves every dtype: what is asked of a
// number, whether it is NaN, finite, 0 or negative, its highest word answers, but for the
// mantissa's low half. Every parameter has 64 bits, and the first is the number of threads.
#include "backends/cuda/kernels/matrix_kernels_ptx.h"

#include <initializer_list>

namespace primset_cuda {
namespace {

// A kernel's declaration, and `at`, the thread's number. Threads past the last return.
std::string begin(const char* name, std::initializer_list<const char*> parameters) {
  std::string declared, named, loaded;
  for (const char* p : parameters) {
    declared.append(",\n  .param .u64 p_").append(p);
    named.append(named.empty() ? "" : ", ").append(p);
    loaded.append("  ld.param.u64 ").append(p).append(", [p_").append(p).append("];\n");
  }
  return ".visible .entry " + std::string(name) + "(\n  .param .u64 p_count" + declared +
         ")\n.reqntid " + std::to_string(kMatrixKernelThreads) + R"(, 1, 1
{
  .reg .pred outside;
  .reg .b32 group, threads, thread;
  .reg .b64 at, count;
  mov.u32 group, %ctaid.x;
  mov.u32 threads, %ntid.x;
  mov.u32 thread, %tid.x;
  mul.wide.u32 at, group, threads;
  cvt.u64.u32 count, thread;
  add.u64 at, at, count;
  ld.param.u64 count, [p_count];
  setp.ge.u64 outside, at, count;
  @outside ret;
  .reg .b64 )" +
         named + ";\n" + loaded;
}

// to[i0 to0 + i1 to1 + i2 to2 + i3 to3] = from[i0 from0 + ...], the last index fastest; strides are
// in bytes. The sign of the words whose i3 is `negated` is turned. Words have `bits`, and are
// counted by `counter`: divisions of 32 bits take a quarter of the time of those of 64.
std::string copy_kernel(const char* name, const std::string& bits, const std::string& counter) {
  const std::string c = "." + counter, step = R"(
  rem)" + c + R"( part, rest, size;
  div)" + c + R"( rest, rest, size;
  cvt.u64)" + c + R"( i, part;
)";
  const auto take = [&](const char* n) {
    return std::string("  cvt") + c + ".u64 size, n" + n + ";" + step + "  mad.lo.s64 to, i, to" +
           n + ", to;\n  mad.lo.s64 from, i, from" + n + ", from;\n";
  };
  const char* const turn = bits == "32" ? "  @turn xor.b32 word, word, 0x80000000;\n" : "";
  return begin(name, {"to", "from", "n1", "n2", "n3", "to0", "to1", "to2", "to3", "from0", "from1",
                      "from2", "from3", "negated"}) +
         "  .reg .pred turn;\n  .reg .b" + bits + " word;\n  .reg .b64 i;\n  .reg .b" +
         counter.substr(1) + " rest, part, size;\n  cvt" + c + ".u64 rest, at;\n" + take("3") +
         "  setp.eq.u64 turn, i, negated;\n" + take("2") + take("1") + "  cvt.u64" + c +
         " i, rest;\n  mad.lo.s64 to, i, to0, to;\n  mad.lo.s64 from, i, from0, from;\n" +
         "  ld.global.u" + bits + " word, [from];\n" + turn + "  st.global.u" + bits +
         " [to], word;\n  ret;\n}\n";
}

// to[at] = at mod n + first: the order of rows that nobody exchanged.
std::string count_kernel() {
  return begin("primset_count", {"to", "n", "first"}) + R"(  .reg .b32 word;
  .reg .b64 i;
  rem.u64 i, at, n;
  add.u64 i, i, first;
  cvt.u32.u64 word, i;
  mad.lo.s64 to, at, 4, to;
  st.global.u32 [to], word;
  ret;
}
)";
}

// to[at] = from[at / places mod channels, at mod words]: one number for all places of a channel. In
// units of `bits`, `words` of which are a number's. Numbers are counted by 32 bits, whose divisions
// take a quarter of the time.
std::string spread_kernel(const std::string& bits) {
  const std::string bytes = bits == "16" ? "2" : "4";
  return begin(("primset_spread_" + bits).c_str(), {"to", "from", "words", "places", "channels"}) +
         "  .reg .b" + bits + R"( word;
  .reg .b32 i, n, part;
  .reg .b64 wide;
  cvt.u32.u64 i, at;
  cvt.u32.u64 n, words;
  rem.u32 part, i, n;
  div.u32 i, i, n;
  cvt.u32.u64 n, places;
  div.u32 i, i, n;
  cvt.u32.u64 n, channels;
  rem.u32 i, i, n;
  cvt.u64.u32 wide, i;
  mul.lo.u64 wide, wide, words;
  mad.lo.s64 from, wide, )" +
         bytes + R"(, from;
  cvt.u64.u32 wide, part;
  mad.lo.s64 from, wide, )" +
         bytes + R"(, from;
  mad.lo.s64 to, at, )" +
         bytes + R"(, to;
  ld.global.u)" +
         bits + R"( word, [from];
  st.global.u)" +
         bits + R"( [to], word;
  ret;
}
)";
}

// Which row of A becomes row i: the exchanges, of row k and row pivots[k] - 1, from the last to the
// first.
std::string permutation_kernel() {
  return begin("primset_permutation", {"to", "pivots", "rows", "steps"}) + R"(  .reg .pred stop, is;
  .reg .b32 word;
  .reg .b64 i, matrix, pivot, next;
  div.u64 matrix, at, rows;
  rem.u64 i, at, rows;
  mad.lo.s64 to, at, 4, to;
  mul.lo.s64 matrix, matrix, steps;
  mad.lo.s64 pivots, matrix, 4, pivots;
BACK:
  setp.eq.u64 stop, steps, 0;
  @stop bra DONE;
  sub.u64 steps, steps, 1;
  mad.lo.s64 next, steps, 4, pivots;
  ld.global.u32 word, [next];
  cvt.u64.u32 pivot, word;
  sub.u64 pivot, pivot, 1;
  setp.eq.u64 is, i, steps;
  @is bra TAKE;
  setp.eq.u64 is, i, pivot;
  selp.b64 i, steps, i, is;
  bra BACK;
TAKE:
  mov.b64 i, pivot;
  bra BACK;
DONE:
  cvt.u32.u64 word, i;
  st.global.u32 [to], word;
  ret;
}
)";
}

// to[at] = first + at stride: a table of addresses.
std::string addresses_kernel() {
  return begin("primset_addresses", {"to", "first", "stride"}) +
         R"(  mad.lo.s64 first, at, stride, first;
  mad.lo.s64 to, at, 8, to;
  st.global.u64 [to], first;
  ret;
}
)";
}

// Of each matrix of n x n: where info is 0 and a number of the diagonal is NaN, info becomes the
// first such one's, from 1. `words` are a number's, of which `high` is its real part's highest.
std::string diagonal_kernel() {
  return begin("primset_diagonal", {"data", "info", "n", "words", "high", "nan"}) +
         R"(  .reg .pred stop;
  .reg .b32 word, mask;
  .reg .b64 i, step;
  mad.lo.s64 info, at, 4, info;
  ld.global.u32 word, [info];
  setp.ne.u32 stop, word, 0;
  @stop ret;
  cvt.u32.u64 mask, nan;
  mul.lo.s64 i, n, n;
  mul.lo.s64 i, i, words;
  mad.lo.s64 high, i, at, high;
  mad.lo.s64 data, high, 4, data;
  add.u64 step, n, 1;
  mul.lo.s64 step, step, words;
  mov.b64 i, 0;
NEXT:
  setp.eq.u64 stop, i, n;
  @stop ret;
  add.u64 i, i, 1;
  ld.global.u32 word, [data];
  mad.lo.s64 data, step, 4, data;
  and.b32 word, word, mask;
  setp.ne.u32 stop, word, mask;
  @stop bra NEXT;
  cvt.u32.u64 word, i;
  st.global.u32 [info], word;
  ret;
}
)";
}

// What is left of a Cholesky factor of n x n, by rows: outside of its triangle 0, and NaN from the
// row and column info - 1 on.
std::string triangle_kernel() {
  return begin("primset_triangle", {"data", "info", "n", "words", "high", "nan", "upper"}) +
         R"(  .reg .pred is, zero;
  .reg .b32 word, failed;
  .reg .b64 i, j, w, known;
  mad.lo.s64 data, at, 4, data;
  rem.u64 w, at, words;
  div.u64 at, at, words;
  rem.u64 j, at, n;
  div.u64 at, at, n;
  rem.u64 i, at, n;
  div.u64 at, at, n;
  mov.b32 word, 0;
  setp.ne.u64 is, upper, 0;
  setp.gt.u64 zero, j, i;
  @is setp.gt.u64 zero, i, j;
  @zero bra WRITE;
  mad.lo.s64 info, at, 4, info;
  ld.global.u32 failed, [info];
  setp.eq.u32 is, failed, 0;
  @is ret;
  cvt.u64.u32 known, failed;
  sub.u64 known, known, 1;
  setp.lt.u64 is, i, known;
  @is ret;
  setp.lt.u64 is, j, known;
  @is ret;
  setp.ne.u64 is, w, high;
  @is bra WRITE;
  cvt.u32.u64 word, nan;
WRITE:
  st.global.u32 [data], word;
  ret;
}
)";
}

// flags[matrix] |= 1 for a part of a number that is not finite, |= 3 for NaN. A matrix, by columns,
// has `rows` and `size` parts, each with `words`, a number `parts`; with `lower` what is above the
// diagonal does not count.
std::string screen_kernel() {
  return begin("primset_screen",
               {"data", "flags", "size", "rows", "parts", "words", "exponent", "lower"}) +
         R"(  .reg .pred is;
  .reg .b32 word, mask, low, flag;
  .reg .b64 i, j, matrix, end;
  div.u64 matrix, at, size;
  rem.u64 i, at, size;
  div.u64 i, i, parts;
  div.u64 j, i, rows;
  rem.u64 i, i, rows;
  setp.eq.u64 is, lower, 0;
  @is bra LOOK;
  setp.lt.u64 is, i, j;
  @is ret;
LOOK:
  mad.lo.s64 end, at, words, words;
  mad.lo.s64 data, end, 4, data;
  ld.global.u32 word, [data+-4];
  cvt.u32.u64 mask, exponent;
  and.b32 low, word, mask;
  setp.ne.u32 is, low, mask;
  @is ret;
  not.b32 mask, mask;
  and.b32 mask, mask, 0x7fffffff;
  and.b32 word, word, mask;
  setp.eq.u64 is, words, 1;
  @is bra FLAG;
  ld.global.u32 low, [data+-8];
  or.b32 word, word, low;
FLAG:
  setp.ne.u32 is, word, 0;
  selp.b32 flag, 3, 1, is;
  mad.lo.s64 flags, matrix, 4, flags;
  red.global.or.b32 [flags], flag;
  ret;
}
)";
}

// Where flags[matrix] is set, every part of a number becomes the one whose highest word is `value`
// and whose others are 0. `size` are a matrix's words, `words` a part's.
std::string overwrite_kernel() {
  return begin("primset_overwrite", {"data", "flags", "size", "words", "value"}) +
         R"(  .reg .pred is;
  .reg .b32 word;
  .reg .b64 i;
  div.u64 i, at, size;
  mad.lo.s64 flags, i, 4, flags;
  ld.global.u32 word, [flags];
  setp.eq.u32 is, word, 0;
  @is ret;
  mad.lo.s64 data, at, 4, data;
  rem.u64 i, at, words;
  add.u64 i, i, 1;
  setp.eq.u64 is, i, words;
  mov.b32 word, 0;
  @is cvt.u32.u64 word, value;
  st.global.u32 [data], word;
  ret;
}
)";
}

// info: of matrices with NaN `with_nan`, of others that are not finite `with_infinity`; what is
// greater than 0 else grows by `more`.
std::string info_kernel() {
  return begin("primset_info", {"info", "flags", "with_nan", "with_infinity", "more"}) +
         R"(  .reg .pred is;
  .reg .b32 word, flag;
  .reg .b64 value;
  mad.lo.s64 info, at, 4, info;
  mad.lo.s64 flags, at, 4, flags;
  ld.global.u32 flag, [flags];
  mov.b64 value, with_nan;
  setp.eq.u32 is, flag, 3;
  @is bra WRITE;
  mov.b64 value, with_infinity;
  setp.eq.u32 is, flag, 1;
  @is bra WRITE;
  ld.global.u32 word, [info];
  setp.le.s32 is, word, 0;
  @is ret;
  cvt.u64.u32 value, word;
  add.u64 value, value, more;
WRITE:
  cvt.u32.u64 word, value;
  st.global.u32 [info], word;
  ret;
}
)";
}

// The words of a number's parts, one after another.
constexpr const char* kEigenvectorWords = R"(COPY:
  add.u64 part, part, to;
  mov.b64 i, 0;
WORD:
  add.u64 i, i, 1;
  ld.global.u32 high, [own];
  st.global.u32 [to], high;
  mov.b32 low, 0;
  @real bra STORE;
  ld.global.u32 low, [next];
  setp.ne.u64 is, i, words;
  @is bra STORE;
  @negative xor.b32 low, low, 0x80000000;
STORE:
  st.global.u32 [part], low;
  add.u64 own, own, 4;
  add.u64 next, next, 4;
  add.u64 to, to, 4;
  add.u64 part, part, 4;
  setp.ne.u64 is, i, words;
  @is bra WORD;
  ret;
}
)";

// Eigenvectors of real matrices, of n x n: of a pair the library gives the real parts in one column
// and the imaginary parts in the next. to, by rows, is complex, as `values` are; `words` are those
// of a part.
std::string eigenvectors_kernel() {
  return begin("primset_eigenvectors", {"to", "vectors", "values", "n", "words"}) +
         R"(  .reg .pred is, negative, real;
  .reg .b32 high, low;
  .reg .b64 i, j, matrix, column, part, own, next;
  mad.lo.s64 own, at, words, 0;
  mad.lo.s64 to, own, 8, to;
  rem.u64 j, at, n;
  div.u64 i, at, n;
  rem.u64 i, i, n;
  div.u64 matrix, at, n;
  div.u64 matrix, matrix, n;
  mul.lo.s64 part, words, 4;
  mul.lo.s64 column, n, part;
  mad.lo.s64 next, matrix, n, j;
  mul.lo.s64 next, next, 2;
  mad.lo.s64 next, next, part, part;
  add.u64 next, next, part;
  add.u64 values, values, next;
  ld.global.u32 high, [values+-4];
  setp.lt.s32 negative, high, 0;
  and.b32 high, high, 0x7fffffff;
  setp.eq.u64 is, words, 1;
  @is bra LOOK;
  ld.global.u32 low, [values+-8];
  or.b32 high, high, low;
LOOK:
  setp.eq.u32 real, high, 0;
  mad.lo.s64 own, matrix, n, j;
  mul.lo.s64 own, own, column;
  mad.lo.s64 own, i, part, own;
  add.u64 own, own, vectors;
  add.u64 next, own, column;
  @real bra COPY;
  @negative sub.u64 own, own, column;
  @negative sub.u64 next, next, column;
)" + kEigenvectorWords;
}

}  // namespace

std::string matrix_kernels_ptx() {
  return ".version 6.3\n.target sm_70\n.address_size 64\n" +
         copy_kernel("primset_copy", "32", "u64") + copy_kernel("primset_copy_32", "32", "u32") +
         copy_kernel("primset_copy_16", "16", "u32") + count_kernel() + permutation_kernel() +
         addresses_kernel() + diagonal_kernel() + triangle_kernel() + screen_kernel() +
         overwrite_kernel() + info_kernel() + eigenvectors_kernel() + spread_kernel("16") +
         spread_kernel("32");
}

}  // namespace primset_cuda
