// Everything a user of Primset includes.
#ifndef PRIMSET_PRIMSET_H_
#define PRIMSET_PRIMSET_H_

#include <primset/device.h>
#include <primset/dtype.h>
#include <primset/error.h>
#include <primset/generator.h>
#include <primset/graph.h>
#include <primset/invoke.h>
#include <primset/options.h>
#include <primset/pack.h>
#include <primset/scalar.h>
#include <primset/statistics.h>
#include <primset/stream.h>
#include <primset/tensor.h>

#endif  // PRIMSET_PRIMSET_H_
