// Pooling and resampling.
#include "conformance/cases/tables/primitive_tables.h"

namespace primset::conformance {
namespace {

constexpr CaseTier kSmoke = CaseTier::smoke, kStandard = CaseTier::standard;

constexpr PrimitiveRow kSpatial[] = {
    {"pooling/max_pool", "image", kSmoke,
     "x=T[2,6,7] window=[3,2] strides=[2,1] dilations=[1,1] padding=[1,0] places=[3,6]"},
    {"pooling/max_pool", "dilated", kStandard,
     "x=T[3,11] window=[3] strides=[1] dilations=[2] padding=[1] places=[9]"},
    {"pooling/max_pool", "volume", kStandard,
     "x=T[2,4,5,3] window=[2,2,3] strides=[2,2,1] dilations=[1,1,1] padding=[0,1,1] "
     "places=[2,3,3]"},
    {"pooling/max_pool", "wide", kStandard,
     "x=T[2,13,14] window=[9,8] strides=[2,1] dilations=[1,1] padding=[4,3] places=[7,13]"},
    {"pooling/max_pool", "nan", kStandard,
     "x=T[2,6,7]{nan} window=[3,3] strides=[1,1] dilations=[1,1] padding=[1,1] places=[6,7]"},
    {"pooling/max_pool", "empty", kStandard,
     "x=T[0,6,7] window=[3,3] strides=[1,1] dilations=[1,1] padding=[0,0] places=[4,5]"},
    {"pooling/max_pool_backward", "image", kSmoke,
     "grad=T[2,3,6] index=i64[2,3,6]{0..42} window=[3,2] strides=[2,1] dilations=[1,1] "
     "padding=[1,0] shape=[6,7]"},
    {"pooling/max_pool_backward", "dilated", kStandard,
     "grad=T[3,9] index=i64[3,9]{0..11} window=[3] strides=[1] dilations=[2] padding=[1] "
     "shape=[11]"},
    {"pooling/max_pool_backward", "last", kStandard,
     "grad=T[2,3]{positive} index=i64[2,3]{1,2,5} window=[2] strides=[2] dilations=[1] "
     "padding=[0] shape=[6]"},
    {"pooling/avg_pool", "image", kSmoke,
     "x=T[2,6,7] window=[3,2] strides=[2,1] padding=[1,0] places=[3,6]"},
    {"pooling/avg_pool", "inside", kStandard,
     "x=T[2,6,7] window=[3,3] strides=[2,2] padding=[1,1] places=[4,4] count_include_pad=false"},
    {"pooling/avg_pool", "divisor", kStandard,
     "x=T[3,11] window=[4] strides=[3] padding=[2] places=[4] divisor=5"},
    {"pooling/avg_pool", "wide", kStandard,
     "x=T[2,13,14] window=[9,8] strides=[2,1] padding=[4,3] places=[7,13]"},
    {"pooling/avg_pool_backward", "image", kSmoke,
     "grad=T[2,3,6] window=[3,2] strides=[2,1] padding=[1,0] shape=[6,7]"},
    {"pooling/avg_pool_backward", "inside", kStandard,
     "grad=T[2,4,4] window=[3,3] strides=[2,2] padding=[1,1] shape=[6,7] "
     "count_include_pad=false"},
    {"pooling/avg_pool_backward", "wide", kStandard,
     "grad=T[2,5,7] window=[9,8] strides=[1,1] padding=[0,0] shape=[13,14] divisor=3"},
    {"pooling/variable_window_reduce", "sum", kSmoke,
     "x=T[2,9,7] bounds=(i64[3]{0..3},i64[3]{4..6},i64[2]{0..2},i64[2]{3..5}) reach=[6,5] "
     "reduce=\"sum\""},
    {"pooling/variable_window_reduce", "max", kStandard,
     "x=T[2,9,7] bounds=(i64[3]{0..3},i64[3]{4..6},i64[2]{0..2},i64[2]{3..5}) reach=[6,5] "
     "reduce=\"max\""},
    {"pooling/variable_window_reduce", "batch", kStandard,
     "x=T[2,3,40] bounds=(i64[2,3,4]{0..9},i64[2,3,4]{10..40}) reach=[40] reduce=\"max\""},
    {"pooling/variable_window_reduce", "long", kStandard,
     "x=T[2,90] bounds=(i64[4]{0..9},i64[4]{10..90}) reach=[90] reduce=\"max\""},
    {"resampling/resample_linear", "image", kSmoke,
     "x=T[2,4,5] scales=(f32[]{0.4..0.5},f32[]{0.5..0.6}) size=[9,8]"},
    {"resampling/resample_linear", "corners", kStandard,
     "x=T[2,4,5] scales=(f32[]{0.3..0.35},f32[]{0.4..0.55}) size=[9,8] align_corners=true"},
    {"resampling/resample_linear", "row", kStandard, "x=T[3,11] scales=(f32[]{2.1..2.2}) size=[5]"},
    {"resampling/resample_linear", "volume", kStandard,
     "x=T[2,3,4,2] scales=(f32[]{0.4..0.5},f32[]{1.2..1.3},f32[]{0.6..0.7}) size=[7,3,3]"},
    {"resampling/resample_cubic", "image", kSmoke,
     "x=T[2,4,5] scales=(f32[]{0.4..0.5},f32[]{0.5..0.6}) size=[9,8]"},
    {"resampling/resample_cubic", "corners", kStandard,
     "x=T[2,9,8] scales=(f32[]{2.0..2.6},f32[]{1.4..1.7}) size=[4,5] align_corners=true"},
    {"resampling/resample_antialias", "linear", kSmoke,
     "x=T[2,9,8] scales=(f32[]{2.2..2.25},f32[]{1.5..1.6}) size=[4,5] filter=\"linear\" "
     "reach=[6,5]"},
    {"resampling/resample_antialias", "cubic", kStandard,
     "x=T[2,9,8] scales=(f32[]{2.2..2.25},f32[]{0.7..0.8}) size=[4,11] filter=\"cubic\" "
     "reach=[10,5]"},
    {"resampling/resample_antialias", "lanczos", kStandard,
     "x=T[2,41,8] scales=(f32[]{10.2..10.25},f32[]{0.7..0.8}) size=[4,11] filter=\"lanczos\" "
     "reach=[63,7]"},
    {"resampling/resample_backward", "nearest", kSmoke,
     "grad=T[2,9,8] scales=(f32[]{0.44..0.45},f32[]{0.62..0.625}) size=[4,5] filter=\"nearest\" "
     "reach=[1,1] slack=1"},
    {"resampling/resample_backward", "linear", kStandard,
     "grad=T[2,9,8] scales=(f32[]{0.44..0.45},f32[]{0.62..0.625}) size=[4,5] filter=\"linear\" "
     "reach=[2,2]"},
    {"resampling/resample_backward", "cubic", kStandard,
     "grad=T[2,5,4] scales=(f32[]{2.2..2.25},f32[]{1.25..1.3}) size=[11,5] filter=\"cubic\" "
     "reach=[4,4] slack=2"},
    {"resampling/resample_backward", "corners", kStandard,
     "grad=T[2,9,8] scales=(f32[]{0.37..0.375},f32[]{0.57..0.58}) size=[4,5] filter=\"linear\" "
     "align_corners=true reach=[2,2]"},
    {"resampling/resample_backward", "anywhere", kStandard,
     "grad=T[2,9,8] scales=(f32[]{1.4..1.5},f32[]{0.1..0.2}) size=[4,5] filter=\"linear\" "
     "reach=[2,2] slack=-1"},
    {"resampling/resample_backward", "antialias", kStandard,
     "grad=T[2,4,11] scales=(f32[]{2.2..2.25},f32[]{0.72..0.73}) size=[9,8] "
     "filter=\"antialias_cubic\" reach=[10,5] slack=1"},
    {"resampling/grid_sample", "image", kSmoke,
     "x=T[2,3,4,5] grid=T[2,3,2,2]{-1.4..1.4} mode=\"bilinear\" padding=\"zeros\""},
    {"resampling/grid_sample", "border", kStandard,
     "x=T[2,3,4,5] grid=T[2,3,2,2]{-1.4..1.4} mode=\"bicubic\" padding=\"border\" "
     "align_corners=true"},
    {"resampling/grid_sample", "nearest", kStandard,
     "x=T[2,3,4,5] grid=T[2,3,2,2]{-1.4..1.4} mode=\"nearest\" padding=\"reflection\""},
    {"resampling/grid_sample", "volume", kStandard,
     "x=T[1,2,3,4,5] grid=T[1,2,3,2,3]{-1.4..1.4} mode=\"bilinear\" padding=\"reflection\""},
    {"resampling/grid_sample", "channels", kStandard,
     "x=T[2,11,4,5] grid=T[2,3,2,2]{-1.4..1.4} mode=\"bicubic\" padding=\"reflection\""},
    {"resampling/grid_sample", "channels_of_volume", kStandard,
     "x=T[1,9,3,4,5] grid=T[1,2,3,2,3]{-1.4..1.4} mode=\"bilinear\" padding=\"zeros\""},
    {"resampling/grid_sample_backward", "image", kSmoke,
     "grad=T[2,3,3,2] x=T[2,3,4,5] grid=T[2,3,2,2]{-1.4..1.4} mode=\"bilinear\" "
     "padding=\"zeros\""},
    {"resampling/grid_sample_backward", "cubic", kStandard,
     "grad=T[2,3,3,2] x=T[2,3,4,5] grid=T[2,3,2,2]{-1.4..1.4} mode=\"bicubic\" "
     "padding=\"reflection\""},
    {"resampling/grid_sample_backward", "nearest", kStandard,
     "grad=T[2,3,3,2] x=T[2,3,4,5] grid=T[2,3,2,2]{-1.4..1.4} mode=\"nearest\" "
     "padding=\"border\" align_corners=true"},
    {"resampling/grid_sample_backward", "volume", kStandard,
     "grad=T[1,2,2,3,2] x=T[1,2,3,4,5] grid=T[1,2,3,2,3]{-1.4..1.4} mode=\"bilinear\" "
     "padding=\"border\""},
};

}  // namespace

std::span<const PrimitiveRow> spatial_rows() {
  return kSpatial;
}

}  // namespace primset::conformance
