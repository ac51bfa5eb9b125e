#define _GNU_SOURCE
#include "CMartletSystem.h"

#ifdef __linux__
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static uint32_t to_epoll(uint32_t interest) {
  uint32_t events = 0;
  if (interest & MARTLET_READABLE) events |= EPOLLIN;
  if (interest & MARTLET_WRITABLE) events |= EPOLLOUT;
  return events;
}

int martlet_poller_open(void) {
  int poller = epoll_create1(EPOLL_CLOEXEC);
  return poller < 0 ? -errno : poller;
}

int martlet_poller_add(int poller, int descriptor, uint32_t interest, uint64_t token, int edge_triggered) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = to_epoll(interest) | (edge_triggered ? (uint32_t)EPOLLET : 0);
  event.data.u64 = token;
  return epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) < 0 ? -errno : 0;
}

int martlet_poller_modify(int poller, int descriptor, uint32_t interest, uint64_t token) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = to_epoll(interest);
  event.data.u64 = token;
  return epoll_ctl(poller, EPOLL_CTL_MOD, descriptor, &event) < 0 ? -errno : 0;
}

int martlet_poller_remove(int poller, int descriptor) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  return epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, &event) < 0 ? -errno : 0;
}

int martlet_poller_wait(int poller, martlet_event *events, int capacity, int timeout_milliseconds) {
  struct epoll_event found[256];
  if (capacity > 256) capacity = 256;
  int count = epoll_wait(poller, found, capacity, timeout_milliseconds);
  if (count < 0) return -errno;
  for (int i = 0; i < count; i++) {
    uint32_t readiness = 0;
    if (found[i].events & EPOLLIN) readiness |= MARTLET_READABLE;
    if (found[i].events & EPOLLOUT) readiness |= MARTLET_WRITABLE;
    if (found[i].events & EPOLLERR) readiness |= MARTLET_FAILED;
    if (found[i].events & EPOLLHUP) readiness |= MARTLET_HANG_UP;
    events[i].token = found[i].data.u64;
    events[i].readiness = readiness;
  }
  return count;
}

int martlet_waker_open(void) {
  int waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return waker < 0 ? -errno : waker;
}

int martlet_waker_wake(int waker) {
  uint64_t one = 1;
  return write(waker, &one, sizeof one) < 0 ? -errno : 0;
}

ptrdiff_t martlet_heap_bytes(const void *object) { return (ptrdiff_t)malloc_usable_size((void *)object); }

void martlet_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
#endif
