#include <array>

#include "codegen/schedule/families/attention/attention_family.h"
#include "codegen/schedule/families/compaction/compaction_family.h"
#include "codegen/schedule/families/concatenation/concatenation_family.h"
#include "codegen/schedule/families/contraction/contraction_family.h"
#include "codegen/schedule/families/control/control_families.h"
#include "codegen/schedule/families/fft/fft_family.h"
#include "codegen/schedule/families/gather_scatter/scatter_family.h"
#include "codegen/schedule/families/scan/scan_family.h"
#include "codegen/schedule/families/segments/segments_family.h"
#include "codegen/schedule/families/sort/sort_families.h"

namespace primset::schedule {

std::span<const Family* const> families() {
  static const std::array kFamilies = {
      &contraction_family,  &attention_family,     &scan_family,       &group_sort_family,
      &group_select_family, &radix_select_family,  &merge_sort_family, &radix_sort_family,
      &scatter_family,      &for_loop_family,      &while_loop_family, &cond_family,
      &fft_family,          &concatenation_family, &compaction_family, &segments_family,
  };
  return kFamilies;
}

}  // namespace primset::schedule
