#include <fmt/format.h>

#include "conformance/cases/ids/id.h"
#include "conformance/report/writers.h"
#include "sdk/base/printable.h"

namespace primset::conformance {
namespace {

std::string in_quotes(std::string_view any) {
  std::string text = printable_lines(any);
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace

void write_csv(std::ostream& out, const Report& report) {
  out << "id,subject,dtype,case,layout,outcome,kind,empty,max_ulp,max_share,seconds,native_ratio,"
         "detail\r\n";
  for (const CaseResult& r : report.results) {
    CaseId id = CaseId::parse(r.id);
    out << fmt::format(
        "{},{},{},{},{},{},{},{},{:.6g},{:.6g},{:.6f},{:.4g},{}\r\n", in_quotes(r.id),
        in_quotes(subject_of(r.id)), name(id.dtype), in_quotes(id.case_name), in_quotes(id.layout),
        name(r.verdict.outcome), name(r.verdict.kind), r.verdict.empty ? 1 : 0, r.verdict.max_ulp,
        r.verdict.max_share, r.seconds, r.verdict.native_ratio, in_quotes(r.verdict.detail));
  }
}

}  // namespace primset::conformance
