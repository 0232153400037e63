// Keys of a sort as integers that order as they do.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_KEYS_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_KEYS_H_

#include "codegen/kernel/ir/builder.h"
#include "primset/dtype.h"

namespace primset::schedule {

// The dtype of a key's bits in memory.
DType sort_key_bits(DType key);

class SortKeys {
 public:
  SortKeys(kir::Builder& b, DType key, bool descending)
      : b_(b), key_(key), descending_(descending) {}

  // Of 32 or 64 bits; holds what is in memory, and what orders.
  kir::Type word() const;
  // An integer that orders as the key does; key: its bits in memory, extended by zeros. Both zeros
  // are equal, and so are all NaNs, which come last.
  kir::Value ordered(kir::Value key);
  kir::Value last();  // the greatest such integer
  kir::Value nan();   // that of NaN, when ascending

 private:
  kir::Builder& b_;
  const DType key_;
  const bool descending_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_KEYS_H_
