// Counts the process's allocations by standing in for the C library's allocator: what is defined in the executable
// wins over the shared library's symbol. Only for tests. The counting itself allocates nothing.
#include "martlet_allocations.h"

// A sanitizer stands in for the allocator itself, before anything of ours may run: then nothing is counted.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define MARTLET_HAS_SANITIZER
#endif
#endif

#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static _Atomic uint64_t martlet_allocations;

static _Thread_local uint64_t martlet_thread_allocations;

uint64_t martlet_allocation_count(void) {
  return atomic_load_explicit(&martlet_allocations, memory_order_relaxed);
}

uint64_t martlet_thread_allocation_count(void) { return martlet_thread_allocations; }

#ifdef MARTLET_HAS_SANITIZER

bool martlet_allocations_are_counted(void) { return false; }

#else

bool martlet_allocations_are_counted(void) { return true; }

static void count(void) {
  atomic_fetch_add_explicit(&martlet_allocations, 1, memory_order_relaxed);
  martlet_thread_allocations++;
}

void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
  count();
  return __libc_realloc(block, size);
}

#endif
