#define _GNU_SOURCE
#include "CMartletSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <arpa/inet.h>

static int answer(int result) { return result < 0 ? -errno : result; }

static socklen_t to_system(const martlet_address *address, struct sockaddr_storage *storage) {
  memset(storage, 0, sizeof *storage);
  if (address->is_ipv6) {
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)storage;
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(address->port);
    six->sin6_scope_id = address->scope;
    for (int i = 0; i < 8; i++) {
      six->sin6_addr.s6_addr[i] = (uint8_t)(address->high >> (56 - 8 * i));
      six->sin6_addr.s6_addr[8 + i] = (uint8_t)(address->low >> (56 - 8 * i));
    }
    return sizeof *six;
  }
  struct sockaddr_in *four = (struct sockaddr_in *)storage;
  four->sin_family = AF_INET;
  four->sin_port = htons(address->port);
  four->sin_addr.s_addr = htonl((uint32_t)address->low);
  return sizeof *four;
}

static int from_system(const struct sockaddr *system, martlet_address *address) {
  memset(address, 0, sizeof *address);
  if (system->sa_family == AF_INET6) {
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)system;
    address->is_ipv6 = 1;
    address->port = ntohs(six->sin6_port);
    address->scope = six->sin6_scope_id;
    for (int i = 0; i < 8; i++) {
      address->high = address->high << 8 | six->sin6_addr.s6_addr[i];
      address->low = address->low << 8 | six->sin6_addr.s6_addr[8 + i];
    }
    return 0;
  }
  if (system->sa_family == AF_INET) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)system;
    address->port = ntohs(four->sin_port);
    address->low = ntohl(four->sin_addr.s_addr);
    return 0;
  }
  return -EAFNOSUPPORT;
}

static int open_socket(const martlet_address *address) {
  return answer(socket(address->is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

static int failed(int descriptor) {
  int error = errno;
  close(descriptor);
  return -error;
}

static int set_flag(int descriptor, int level, int option, int value) {
  return answer(setsockopt(descriptor, level, option, &value, sizeof value));
}

int martlet_listen(const martlet_address *address, int backlog, int reuse_port) {
  struct sockaddr_storage storage;
  socklen_t length = to_system(address, &storage);
  int descriptor = open_socket(address);
  if (descriptor < 0) return descriptor;
  set_flag(descriptor, SOL_SOCKET, SO_REUSEADDR, 1);
  if (reuse_port && set_flag(descriptor, SOL_SOCKET, SO_REUSEPORT, 1) < 0) return failed(descriptor);
  // The unspecified IPv6 address also takes IPv4 peers.
  if (address->is_ipv6) set_flag(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (bind(descriptor, (struct sockaddr *)&storage, length) < 0) return failed(descriptor);
  if (listen(descriptor, backlog) < 0) return failed(descriptor);
  return descriptor;
}

int martlet_accept(int listener, martlet_address *peer) {
  struct sockaddr_storage storage;
  socklen_t length = sizeof storage;
  int descriptor = accept4(listener, (struct sockaddr *)&storage, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor < 0) return -errno;
  if (from_system((struct sockaddr *)&storage, peer) < 0) memset(peer, 0, sizeof *peer);
  return descriptor;
}

int martlet_connect(const martlet_address *address, int *in_progress) {
  struct sockaddr_storage storage;
  socklen_t length = to_system(address, &storage);
  *in_progress = 0;
  int descriptor = open_socket(address);
  if (descriptor < 0) return descriptor;
  if (connect(descriptor, (struct sockaddr *)&storage, length) < 0) {
    // An interrupted connect continues by itself, as one in progress does.
    if (errno != EINPROGRESS && errno != EINTR) return failed(descriptor);
    *in_progress = 1;
  }
  return descriptor;
}

int martlet_socket_error(int descriptor) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return -errno;
  return -error;
}

int martlet_local_address(int descriptor, martlet_address *address) {
  struct sockaddr_storage storage;
  socklen_t length = sizeof storage;
  if (getsockname(descriptor, (struct sockaddr *)&storage, &length) < 0) return -errno;
  return from_system((struct sockaddr *)&storage, address);
}

int martlet_set_no_delay(int descriptor) { return set_flag(descriptor, IPPROTO_TCP, TCP_NODELAY, 1); }

int martlet_set_keep_alive(int descriptor, int idle_seconds) {
  int result = set_flag(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef TCP_KEEPIDLE
  if (result >= 0) result = set_flag(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, idle_seconds);
#else
  (void)idle_seconds;
#endif
  return result;
}

int martlet_set_buffer_sizes(int descriptor, int send_bytes, int receive_bytes) {
  int result = 0;
  if (send_bytes > 0) result = set_flag(descriptor, SOL_SOCKET, SO_SNDBUF, send_bytes);
  if (result >= 0 && receive_bytes > 0) result = set_flag(descriptor, SOL_SOCKET, SO_RCVBUF, receive_bytes);
  return result;
}

int martlet_reset_on_close(int descriptor) {
  struct linger linger = {.l_onoff = 1, .l_linger = 0};
  return answer(setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
}

ptrdiff_t martlet_unacknowledged(int descriptor) {
  int count = 0;
  return ioctl(descriptor, SIOCOUTQ, &count) < 0 ? -errno : count;
}

int martlet_shutdown_writing(int descriptor) { return answer(shutdown(descriptor, SHUT_WR)); }

int martlet_close(int descriptor) { return answer(close(descriptor)); }

ptrdiff_t martlet_send(int descriptor, const void *bytes, size_t count) {
  ssize_t result = send(descriptor, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
  return result < 0 ? -errno : result;
}

ptrdiff_t martlet_receive(int descriptor, void *bytes, size_t count) {
  ssize_t result = recv(descriptor, bytes, count, MSG_DONTWAIT);
  return result < 0 ? -errno : result;
}

int martlet_open_reserve(void) { return answer(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

int martlet_resolve(const char *host, uint16_t port, int numeric_only, martlet_address *addresses, int capacity) {
  struct addrinfo hints = {0};
  struct addrinfo *found = NULL;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = numeric_only ? AI_NUMERICHOST : AI_ADDRCONFIG;
  int code = getaddrinfo(host, NULL, &hints, &found);
  if (code != 0) return code < 0 ? code : -code;
  int count = 0;
  for (struct addrinfo *one = found; one != NULL && count < capacity; one = one->ai_next) {
    if (from_system(one->ai_addr, &addresses[count]) == 0) {
      addresses[count].port = port;
      count++;
    }
  }
  freeaddrinfo(found);
  return count;
}

const char *martlet_resolve_error_text(int code) { return gai_strerror(code); }

void martlet_address_text(const martlet_address *address, char *text) {
  struct sockaddr_storage storage;
  socklen_t length = to_system(address, &storage);
  if (getnameinfo((struct sockaddr *)&storage, length, text, 64, NULL, 0, NI_NUMERICHOST) != 0) strcpy(text, "?");
}

const char *martlet_error_text(int error) {
  const char *text = strerrordesc_np(error);
  return text ? text : "unknown error";
}

int martlet_send_datagram(const char *path, const char *text) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(path);
  if (length == 0 || length >= sizeof(address.sun_path)) return -ENAMETOOLONG;
  memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = 0;
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
  ssize_t sent = sendto(descriptor, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address, size);
  int result = sent < 0 ? -errno : 0;
  close(descriptor);
  return result;
}
