// Recurrent cells, distances and losses.
#include "conformance/cases/tables/primitive_tables.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

constexpr PrimitiveRow kNetwork[] = {
    {"recurrent/lstm_cell", "plain", kSmoke, "gates=T[3,20] c=T[3,5]"},
    {"recurrent/lstm_cell", "wide", kStandard, "gates=A[3,20] c=T[3,5]"},
    {"recurrent/lstm_cell", "empty", kStandard, "gates=T[0,20] c=T[0,5]"},
    {"recurrent/gru_cell", "plain", kSmoke, "input_gates=T[3,15] hidden_gates=T[3,15] h=T[3,5]"},
    {"recurrent/gru_cell", "wide", kStandard, "input_gates=A[3,15] hidden_gates=A[3,15] h=T[3,5]"},
    {"distance/cdist", "plain", kSmoke, "x=T[2,4,3] y=T[2,5,3] p=2"},
    {"distance/cdist", "count", kStandard, "x=T[4,3]{ties} y=T[5,3]{ties} p=0"},
    {"distance/cdist", "sum", kStandard, "x=T[4,3] y=T[5,3] p=1"},
    {"distance/cdist", "power", kStandard, "x=T[4,3] y=T[5,3] p=2.5"},
    {"distance/cdist", "greatest", kStandard, "x=T[4,3] y=T[5,3] p=inf"},
    {"distance/cdist", "of_nothing", kStandard, "x=T[4,0] y=T[5,0] p=2"},
    {"distance/cdist_backward", "plain", kSmoke,
     "grad=T[2,4,5] x=T[2,4,3] y=T[2,5,3] d=T[2,4,5]{1..3} p=2"},
    {"distance/cdist_backward", "power", kStandard,
     "grad=T[4,5] x=T[4,3] y=T[5,3] d=T[4,5]{1..3} p=2.5"},
    {"loss/ctc_loss", "plain", kSmoke,
     "log_probs=T[7,2,5] targets=i64[2,3]{1..5} input_lengths=i64[2]{5..7} "
     "target_lengths=i64[2]{1..4} blank=0"},
    {"loss/ctc_loss", "blank", kStandard,
     "log_probs=T[7,2,5] targets=i64[2,3]{0..4} input_lengths=i64[2]{5..7} "
     "target_lengths=i64[2]{0..4} blank=4"},
    {"loss/ctc_loss_backward", "plain", kSmoke,
     "grad=T[2] log_probs=T[4,2,5]{-2..0} targets=i64[2,2]{1..5} input_lengths=i64[2]{3..5} "
     "target_lengths=i64[2]{1..3} loss=T[2]{1..2} log_alpha=T[2,4,5]{-9..-5} blank=0"},
    {"loss/ctc_loss_backward", "unreachable", kStandard,
     "grad=T[2] log_probs=T[4,2,5]{-2..0} targets=i64[2,2]{1..5} input_lengths=i64[2]{3..5} "
     "target_lengths=i64[2]{1..3} loss=T[2]{inf,1.5} log_alpha=T[2,4,5]{-9..-5} blank=0 "
     "zero_infinity=true"},
};

}  // namespace

std::span<const PrimitiveRow> network_primitive_rows() {
  return kNetwork;
}

}  // namespace primset::conformance
