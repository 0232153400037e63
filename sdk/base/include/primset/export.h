// Marks what libprimset.so exports; everything else in it is hidden.
#ifndef PRIMSET_EXPORT_H_
#define PRIMSET_EXPORT_H_

#if defined(_WIN32)
#define PRIMSET_API
#else
#define PRIMSET_API __attribute__((visibility("default")))
#endif

#endif  // PRIMSET_EXPORT_H_
