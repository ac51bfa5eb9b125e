// zlib, with its initialising macros as functions.
#ifndef CMARTLET_ZLIB_SHIM_H
#define CMARTLET_ZLIB_SHIM_H

#include <zlib.h>

static inline int martlet_deflate_init(z_streamp stream, int level, int window_bits, int memory_level) {
  return deflateInit2(stream, level, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY);
}

static inline int martlet_inflate_init(z_streamp stream, int window_bits) {
  return inflateInit2(stream, window_bits);
}

#endif
