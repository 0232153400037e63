// The one translation unit of libprimset.so itself; everything else comes from the static
// libraries.
#include "primset/export.h"

extern "C" PRIMSET_API const char* primset_version() {
  return PRIMSET_VERSION;
}
