// Load client of the benchmarks: many WebSocket subscribers in one thread, each of which checks every event it gets.
//
//   wsload PORT PATH CONNECTIONS EVENTS TIMEOUT QUERY [PROTOCOL [INIT [FIELD [EXTENSIONS]]]]
//
// Opens CONNECTIONS sockets to 127.0.0.1, subscribes to QUERY on each (a `%d` in it becomes the connection's number),
// prints `ready` when every subscription is sent (and confirmed, where the server says `ready`), then counts events.
// Each event must carry the connection's own operation id, and the number behind FIELD must grow by one from event to
// event. Ends after EVENTS events on every connection, or after TIMEOUT seconds; prints one line of JSON with counts,
// errors, latency and its own CPU seconds. Exit 0 only when every event arrived in order.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HANDSHAKE, INIT, LIVE };

struct peer {
  int fd, state, events, confirmed;
  long last;
  char *buffer;
  size_t used, room;
};

static const char *query, *init_payload = "{}", *field = "\"number\":", *extensions = "";
static int wanted, live, finished, failures, confirmed;
static long received;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static double cpu(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void fail(int number, const char *what) {
  if (failures++ < 5) fprintf(stderr, "connection %d: %s\n", number, what);
}

// A masked text frame; the mask is zero, which is legal and leaves the bytes as they are.
static void send_text(int fd, const char *text, size_t length) {
  unsigned char frame[16384];
  size_t at = 0;
  frame[at++] = 0x81;
  if (length < 126) {
    frame[at++] = 0x80 | length;
  } else {
    frame[at++] = 0x80 | 126;
    frame[at++] = length >> 8;
    frame[at++] = length & 255;
  }
  memset(frame + at, 0, 4);
  at += 4;
  memcpy(frame + at, text, length);
  if (send(fd, frame, at + length, MSG_NOSIGNAL) < 0) perror("send");
}

static void send_pong(int fd, const unsigned char *payload, size_t length) {
  unsigned char frame[140] = {0x8A, 0x80 | length};
  memcpy(frame + 6, payload, length);
  send(fd, frame, 6 + length, MSG_NOSIGNAL);
}

static void subscribe(struct peer *p, int number) {
  char text[8192], document[6144];
  snprintf(document, sizeof document, query, number);
  int length = snprintf(text, sizeof text,
    "{\"id\":\"c%d\",\"type\":\"subscribe\",\"payload\":{\"query\":\"%s\"%s}}", number, document, extensions);
  send_text(p->fd, text, length);
  p->state = LIVE;
  live++;
}

static void take_message(struct peer *p, int number, char *text, size_t length) {
  char saved = text[length];
  text[length] = 0;
  if (strstr(text, "\"connection_ack\"")) {
    subscribe(p, number);
  } else if (strstr(text, "\"type\":\"ready\"")) {
    if (!p->confirmed++) confirmed++;
  } else if (strstr(text, "\"type\":\"ping\"") || strstr(text, "\"type\": \"ping\"")) {
    send_text(p->fd, "{\"type\":\"pong\"}", 15);
  } else if (strstr(text, "\"next\"")) {
    char id[32];
    snprintf(id, sizeof id, "\"c%d\"", number);
    if (!strstr(text, id)) fail(number, "event of another subscription");
    char *value = strstr(text, field);
    if (!value) {
      fail(number, text);
    } else {
      value += strlen(field);
      while (*value == ' ') value++;
      long n = strtol(value, 0, 10);
      if (p->last >= 0 && n != p->last + 1) fail(number, "an event is missing, repeated or out of order");
      p->last = n;
    }
    received++;
    if (++p->events == wanted) finished++;
  } else {
    fail(number, text);
  }
  text[length] = saved;
}

static size_t take_frames(struct peer *p, int number) {
  size_t at = 0;
  while (p->used - at >= 2) {
    unsigned char *b = (unsigned char *)p->buffer + at;
    size_t head = 2, length = b[1] & 127;
    if (length == 126) {
      if (p->used - at < 4) break;
      length = b[2] << 8 | b[3];
      head = 4;
    } else if (length == 127) {
      if (p->used - at < 10) break;
      length = 0;
      for (int i = 2; i < 10; i++) length = length << 8 | b[i];
      head = 10;
    }
    if (p->used - at < head + length) break;
    int opcode = b[0] & 15;
    if (opcode == 1) {
      take_message(p, number, p->buffer + at + head, length);
    } else if (opcode == 9) {
      send_pong(p->fd, b + head, length);
    } else if (opcode == 8) {
      fail(number, "closed by the server");
    }
    at += head + length;
  }
  return at;
}

static void readable(struct peer *p, int number) {
  for (;;) {
    if (p->room - p->used < 16384) {
      p->room = p->room ? p->room * 2 : 32768;
      p->buffer = realloc(p->buffer, p->room + 1);
    }
    ssize_t n = recv(p->fd, p->buffer + p->used, p->room - p->used, 0);
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) {
      if (p->events < wanted) fail(number, "the connection is gone");
      close(p->fd);
      p->fd = -1;
      return;
    }
    p->used += n;
    size_t taken = 0;
    if (p->state == HANDSHAKE) {
      char *end = memmem(p->buffer, p->used, "\r\n\r\n", 4);
      if (!end) continue;
      if (!memmem(p->buffer, p->used, " 101 ", 5)) {
        fail(number, "the handshake was refused");
        return;
      }
      taken = end + 4 - p->buffer;
      memmove(p->buffer, p->buffer + taken, p->used -= taken);
      char text[2048];
      int length = snprintf(text, sizeof text, "{\"type\":\"connection_init\",\"payload\":%s}", init_payload);
      send_text(p->fd, text, length);
      p->state = INIT;
    }
    taken = take_frames(p, number);
    memmove(p->buffer, p->buffer + taken, p->used -= taken);
    if (p->used == 0 && p->room > 32768) {
      free(p->buffer);
      p->buffer = 0;
      p->room = 0;
    }
    if ((size_t)n < 16384) break;
  }
}

int main(int count, char **words) {
  if (count < 7) {
    fprintf(stderr, "usage: wsload PORT PATH CONNECTIONS EVENTS TIMEOUT QUERY [PROTOCOL [INIT [FIELD [EXTENSIONS]]]]\n");
    return 64;
  }
  signal(SIGPIPE, SIG_IGN);
  int port = atoi(words[1]), connections = atoi(words[3]);
  const char *path = words[2], *protocol = count > 7 ? words[7] : "graphql-transport-ws";
  wanted = atoi(words[4]);
  double timeout = atof(words[5]);
  query = words[6];
  if (count > 8) init_payload = words[8];
  if (count > 9) field = words[9];
  if (count > 10) extensions = words[10];
  int expects_ready = strstr(init_payload, "martlet") != 0;

  struct peer *peers = calloc(connections, sizeof *peers);
  int queue = epoll_create1(0), opened = 0, announced = 0;
  double start = seconds(), ready_at = 0, first_cpu = 0;
  struct epoll_event happened[512];
  while (finished < connections && seconds() - start < timeout) {
    // Up to 200 handshakes at a time, so that no accept queue overflows.
    while (opened < connections && opened - live < 200) {
      struct peer *p = &peers[opened];
      struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      p->last = -1;
      p->fd = socket(AF_INET, SOCK_STREAM, 0);
      if (p->fd < 0 || connect(p->fd, (struct sockaddr *)&address, sizeof address) < 0) {
        perror("connect");
        return 1;
      }
      int on = 1;
      setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      char request[512];
      int length = snprintf(request, sizeof request,
        "GET %s HTTP/1.1\r\nHost: localhost:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Protocol: %s\r\n\r\n", path, port, protocol);
      send(p->fd, request, length, MSG_NOSIGNAL);
      fcntl(p->fd, F_SETFL, O_NONBLOCK);
      struct epoll_event interest = {.events = EPOLLIN, .data.u32 = opened};
      epoll_ctl(queue, EPOLL_CTL_ADD, p->fd, &interest);
      opened++;
    }
    int n = epoll_wait(queue, happened, 512, 100);
    for (int i = 0; i < n; i++) {
      int number = happened[i].data.u32;
      if (peers[number].fd >= 0) readable(&peers[number], number);
    }
    if (!announced && live == connections && (!expects_ready || confirmed == connections)) {
      announced = 1;
      ready_at = seconds();
      first_cpu = cpu();
      printf("ready %.3f\n", ready_at - start);
      fflush(stdout);
      if (wanted == 0) {
        // Idle connections: hold them until standard input ends, answering pings.
        fcntl(0, F_SETFL, O_NONBLOCK);
      }
    }
    if (announced && wanted == 0) {
      char c;
      if (read(0, &c, 1) == 0) break;
    }
    if (failures > 100) break;
  }
  double wall = ready_at > 0 ? seconds() - ready_at : 0;
  printf("{\"connections\":%d,\"live\":%d,\"events\":%ld,\"expected\":%ld,\"failures\":%d,\"seconds\":%.3f,\"cpu\":%.3f}\n",
    connections, live, received, (long)connections * wanted, failures, wall, cpu() - first_cpu);
  return failures == 0 && received == (long)connections * wanted ? 0 : 1;
}
