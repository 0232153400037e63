// What the reader guarantees beyond the bytes: every index in a bundle points at something.
#ifndef PRIMSET_SPECS_BUNDLE_VALIDATE_H_
#define PRIMSET_SPECS_BUNDLE_VALIDATE_H_

#include "specs/bundle/model.h"

namespace primset::specs {

// Throws Error{corrupt} naming the first overload or primitive with an index out of range, a
// formula whose children do not come before their parents, or base and alias links that go in a
// circle.
void validate(const Bundle& bundle);

}  // namespace primset::specs

#endif  // PRIMSET_SPECS_BUNDLE_VALIDATE_H_
