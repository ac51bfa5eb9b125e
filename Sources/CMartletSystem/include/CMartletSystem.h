// The system calls under Martlet's event loop, in a shape Swift can use without pointer casts.
//
// Every function that can fail answers a negative errno; nothing here keeps state.
#ifndef CMARTLET_SYSTEM_H
#define CMARTLET_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

// An IPv4 or IPv6 address with its port. IPv4 stands in the last four bytes of `low`, in host order of the word.
typedef struct martlet_address {
  uint64_t high;
  uint64_t low;
  uint32_t scope;
  uint16_t port;
  uint8_t is_ipv6;
} martlet_address;

// Sockets. All descriptors are non-blocking and closed on exec.
int martlet_listen(const martlet_address *address, int backlog, int reuse_port);
int martlet_accept(int listener, martlet_address *peer);
// A connecting socket, or -errno. `in_progress` says whether to wait for writability.
int martlet_connect(const martlet_address *address, int *in_progress);
// The pending error of a socket, 0 when there is none.
int martlet_socket_error(int descriptor);
int martlet_local_address(int descriptor, martlet_address *address);
int martlet_set_no_delay(int descriptor);
int martlet_set_keep_alive(int descriptor, int idle_seconds);
int martlet_set_buffer_sizes(int descriptor, int send_bytes, int receive_bytes);
// The next close drops what is unsent and resets the connection.
int martlet_reset_on_close(int descriptor);
// Bytes that were sent and that the peer's system has not acknowledged, or -errno.
ptrdiff_t martlet_unacknowledged(int descriptor);
int martlet_shutdown_writing(int descriptor);
int martlet_close(int descriptor);
ptrdiff_t martlet_send(int descriptor, const void *bytes, size_t count);
ptrdiff_t martlet_receive(int descriptor, void *bytes, size_t count);
// A descriptor held in reserve for the moment there are none left.
int martlet_open_reserve(void);

// Names. Answers how many addresses were written, or the negative resolver code; blocks.
int martlet_resolve(const char *host, uint16_t port, int numeric_only, martlet_address *addresses, int capacity);
const char *martlet_resolve_error_text(int code);
// Writes the address without its port; the buffer must hold 64 bytes.
void martlet_address_text(const martlet_address *address, char *text);
const char *martlet_error_text(int error);
// Sends a datagram to a socket of the local machine by its path; '@' begins an abstract name. 0 or -errno.
int martlet_send_datagram(const char *path, const char *text);
// Names the calling thread, for tools that list threads.
void martlet_name_thread(const char *name);
// What the allocator gave for an object: for tests that hold one to a size.
ptrdiff_t martlet_heap_bytes(const void *object);

// Readiness (Linux).
enum { MARTLET_READABLE = 1, MARTLET_WRITABLE = 2, MARTLET_FAILED = 4, MARTLET_HANG_UP = 8 };
typedef struct martlet_event {
  uint64_t token;
  uint32_t readiness;
} martlet_event;
int martlet_poller_open(void);
int martlet_poller_add(int poller, int descriptor, uint32_t interest, uint64_t token, int edge_triggered);
int martlet_poller_modify(int poller, int descriptor, uint32_t interest, uint64_t token);
int martlet_poller_remove(int poller, int descriptor);
int martlet_poller_wait(int poller, martlet_event *events, int capacity, int timeout_milliseconds);
int martlet_waker_open(void);
int martlet_waker_wake(int waker);

#endif
