// A run for other programs and for people: JUnit XML, CSV, and an HTML page with a matrix of
// operators and dtypes.
#ifndef PRIMSET_CONFORMANCE_REPORT_WRITERS_H_
#define PRIMSET_CONFORMANCE_REPORT_WRITERS_H_

#include <ostream>
#include <string>
#include <string_view>

#include "conformance/report/summary.h"

namespace primset::conformance {

// One testsuite a family. Failures of the device are <failure>, of the run (crash, timeout,
// test_bug, not_run) <error>; refused, unsupported, expected and waived cases are <skipped>. How
// many were refused, and how many results were empty, are properties of the testsuite.
void write_junit(std::ostream& out, const Report& report);

// id, subject, dtype, case, layout, outcome, kind, empty (0 or 1), max_ulp, max_share, seconds,
// native_ratio, detail (RFC 4180).
void write_csv(std::ostream& out, const Report& report);

// One page without references to anything outside of it.
void write_html(std::ostream& out, const Report& report);

// For XML and HTML: & < > " are escaped, and what is no printable UTF-8 is written out as \x1b.
std::string escape_markup(std::string_view text);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_REPORT_WRITERS_H_
