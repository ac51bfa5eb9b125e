#ifndef MARTLET_ALLOCATIONS_H
#define MARTLET_ALLOCATIONS_H

#include <stdint.h>

/// Calls of malloc, calloc and realloc in this process since it began, by all threads.
uint64_t martlet_allocation_count(void);

/// The same, by the calling thread.
uint64_t martlet_thread_allocation_count(void);

#endif
