#ifndef MARTLET_ALLOCATIONS_H
#define MARTLET_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

/// False in programs with a sanitizer, which has an allocator of its own.
bool martlet_allocations_are_counted(void);

/// Calls of malloc, calloc and realloc in this process since it began, by all threads.
uint64_t martlet_allocation_count(void);

/// The same, by the calling thread.
uint64_t martlet_thread_allocation_count(void);

#endif
