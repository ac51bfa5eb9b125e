// Load client of the benchmarks: many WebSocket subscriptions in one thread, and every event checked.
//
//   wsload --port N --connections N --events N --query DOCUMENT [OPTIONS]
//
// Opens the connections to 127.0.0.1, subscribes, prints `ready SECONDS` when every subscription is sent (and confirmed,
// where the server was asked for cursors), then counts events. Each event must carry the id of one of its connection's
// subscriptions; the number in it must be one more than in the event before; its checksum must fit the number; its
// cursor's offset must grow. Ends after --events events on every subscription, after --timeout seconds, or, holding
// (--events 0), when standard input ends. Prints one line of JSON. Exit 0 only when every event arrived, in order.
//
//   --path P            request target (/graphql)
//   --per-connection N  subscriptions on each connection (1)
//   --protocol P        WebSocket subprotocol (graphql-transport-ws)
//   --init JSON         payload of connection_init ({})
//   --tokens FILE       one token a line: connection n shows line n in its connection_init, as authToken
//   --variables JSON    variables of the query; %d in them, or in the query, is the subscription's number
//   --key-field TEXT    text before the subscription's number in each event, e.g. '"topic":"t'
//   --cursors           ask for cursors, expect `ready`, check offsets
//   --resume            connect again after a loss and resume after the last cursor
//   --latency           events carry "sent":"NANOSECONDS" of the monotonic clock; print the distribution
//   --deflate           offer permessage-deflate
//   --tls               speak TLS (certificates are not checked)
//   --unchecked         do not look at numbers and checksums (idle connections)
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
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

enum { UNUSED, HANDSHAKE, INIT, LIVE, LOST };

struct subscription {
  long last;
  long long offset;
  int events, confirmed;
  char mark[48];
};

struct peer {
  int fd, state;
  SSL *tls;
  char *buffer;
  size_t used, room;
};

static const char *path = "/graphql", *protocol = "graphql-transport-ws", *query = "", *init_payload = "{}";
static const char *variables = 0, *key_field = 0;
static char **tokens;
static int token_count;
static int port, connections, per_connection = 1, wanted, cursors, resumes, latencies, deflates, secure, unchecked;
static double timeout = 60;
static SSL_CTX *context;
static struct peer *peers;
static struct subscription *subscriptions;
static int failures, live, lost, finished, confirmed, queue;
static long received, repeated;
static float *samples;
static size_t sample_count, sample_room;

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
  if (failures++ < 5) fprintf(stderr, "connection %d: %.300s\n", number, what);
}

// FNV-1a over the number's decimal digits: what the load generator wrote into the event's text.
static uint64_t checksum(long number) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%ld", number);
  uint64_t hash = 0xcbf29ce484222325ull;
  for (int i = 0; i < length; i++) hash = (hash ^ (unsigned char)digits[i]) * 0x100000001b3ull;
  return hash;
}

static void send_bytes(struct peer *p, const void *bytes, size_t length) {
  if (p->tls) {
    if (SSL_write(p->tls, bytes, length) <= 0) p->state = LOST;
  } else if (send(p->fd, bytes, length, MSG_NOSIGNAL) != (ssize_t)length && errno != EPIPE && errno != ECONNRESET) {
    perror("send");
  }
}

// A masked frame; the mask is zero, which is legal and leaves the bytes as they are.
static void send_frame(struct peer *p, int opcode, const char *text, size_t length) {
  unsigned char frame[16384];
  size_t at = 0;
  frame[at++] = 0x80 | opcode;
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
  send_bytes(p, frame, at + length);
}

static void subscribe(struct peer *p, int number) {
  char text[12288], document[6144], extra[4096];
  for (int i = 0; i < per_connection; i++) {
    int id = number * per_connection + i;
    // The query may name the subscription's number up to four times.
    snprintf(document, sizeof document, query, id, id, id, id);
    size_t used = 0;
    extra[0] = 0;
    if (variables) {
      used = snprintf(extra, sizeof extra, ",\"variables\":");
      used += snprintf(extra + used, sizeof extra - used, variables, id, id, id, id);
    }
    if (resumes && subscriptions[id].mark[0] && used < sizeof extra - 128) {
      snprintf(extra + used, sizeof extra - used, ",\"extensions\":{\"martlet\":{\"resume\":\"%s\"}}",
        subscriptions[id].mark);
    }
    int length = snprintf(text, sizeof text,
      "{\"id\":\"c%d\",\"type\":\"subscribe\",\"payload\":{\"query\":\"%s\"%s}}", id, document, extra);
    send_frame(p, 1, text, length);
  }
  p->state = LIVE;
  live++;
}

// The subscription a message is about, by its own id, which must be one of this connection's.
static struct subscription *addressee(int number, const char *text) {
  const char *at = strstr(text, "\"id\":");
  if (!at) return 0;
  at += 5;
  while (*at == ' ') at++;
  if (at[0] != '"' || at[1] != 'c') return 0;
  long id = strtol(at + 2, 0, 10);
  if (id / per_connection != number) return 0;
  return &subscriptions[id];
}

// Takes the cursor of a message: false when its offset does not grow.
static int take_cursor(struct subscription *s, const char *text, int is_event) {
  const char *at = strstr(text, "\"cursor\":\"");
  if (!at) return !cursors;
  at += 10;
  const char *end = strchr(at, '"'), *dash = end ? memchr(at, '-', end - at) : 0;
  if (!dash || end - at >= (long)sizeof s->mark) return 0;
  long long offset = strtoll(dash + 1, 0, 10);
  if (is_event && offset <= s->offset) return 0;
  if (offset > s->offset) s->offset = offset;
  if (!strstr(end, "\"partial\":true")) {
    memcpy(s->mark, at, end - at);
    s->mark[end - at] = 0;
  }
  return 1;
}

static void take_event(struct peer *p, int number, char *text) {
  struct subscription *s = addressee(number, text);
  if (!s) return fail(number, "event of another subscription");
  if (strstr(text, "\"errors\"")) return fail(number, text);
  long long before = s->offset;
  if (!take_cursor(s, text, 1)) {
    // A resumed subscription may see the part of a transaction again that it saw before the loss.
    const char *at = strstr(text, "\"cursor\":\"");
    if (resumes && at && before > 0) {
      repeated++;
      return;
    }
    return fail(number, "an offset is missing or does not grow");
  }
  if (!unchecked) {
    char *value = strstr(text, "\"number\":");
    if (!value) return fail(number, text);
    value += 9;
    while (*value == ' ') value++;
    long n = strtol(value, 0, 10);
    if (s->last >= 0 && n != s->last + 1) fail(number, "an event is missing, repeated or out of order");
    s->last = n;
    char *sum = strstr(text, "\"text\":");
    if (!sum) return fail(number, "an event without its text");
    sum += 7;
    while (*sum == ' ' || *sum == '"') sum++;
    if (strtoull(sum, 0, 16) != checksum(n)) fail(number, "an event's checksum does not fit its number");
    if (key_field) {
      char *key = strstr(text, key_field);
      if (!key || strtol(key + strlen(key_field), 0, 10) != s - subscriptions) fail(number, "an event of another filter");
    }
  }
  if (latencies) {
    char *sent = strstr(text, "\"sent\":");
    if (!sent) return fail(number, "an event without the time it was sent");
    sent += 7;
    while (*sent == ' ' || *sent == '"') sent++;
    if (sample_count == sample_room) samples = realloc(samples, (sample_room = sample_room * 2 + 4096) * sizeof *samples);
    samples[sample_count++] = (float)(seconds() - strtoull(sent, 0, 10) / 1e9);
  }
  received++;
  if (++s->events == wanted) finished++;
  (void)p;
}

static void take_message(struct peer *p, int number, char *text, size_t length) {
  char saved = text[length];
  text[length] = 0;
  if (strstr(text, "\"next\"")) {
    take_event(p, number, text);
  } else if (strstr(text, "\"connection_ack\"")) {
    subscribe(p, number);
  } else if (strstr(text, "\"type\":\"ready\"")) {
    struct subscription *s = addressee(number, text);
    if (s) take_cursor(s, text, 0);
    if (s && !s->confirmed) {
      s->confirmed = 1;
      confirmed++;
    }
  } else if (strstr(text, "\"type\":\"ping\"") || strstr(text, "\"type\": \"ping\"")) {
    send_frame(p, 1, "{\"type\":\"pong\"}", 15);
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
    if (b[0] & 0x40) {
      // Compressed. Only idle connections offer deflate here, and they get no events.
      fail(number, "a compressed message, which this client does not read");
    } else if (opcode == 1) {
      take_message(p, number, p->buffer + at + head, length);
    } else if (opcode == 9) {
      send_frame(p, 10, (char *)b + head, length);
    } else if (opcode == 8 && !resumes) {
      fail(number, "closed by the server");
    }
    at += head + length;
  }
  return at;
}

static void disconnect(struct peer *p, int number) {
  if (!resumes && wanted > 0 && finished < connections * per_connection) fail(number, "the connection is gone");
  if (wanted == 0 && !resumes) fail(number, "the connection is gone");
  if (p->state == LIVE) live--;
  for (int i = 0; i < per_connection; i++) {
    struct subscription *s = &subscriptions[number * per_connection + i];
    confirmed -= s->confirmed;
    s->confirmed = 0;
  }
  if (p->tls) SSL_free(p->tls);
  p->tls = 0;
  close(p->fd);
  p->fd = -1;
  p->used = 0;
  p->state = LOST;
  lost++;
}

// One buffer for all: only a connection with half a message keeps bytes of its own.
static char scratch[1 << 20];

static void readable(struct peer *p, int number) {
  for (;;) {
    memcpy(scratch, p->buffer, p->used);
    size_t before = p->used;
    char *own = p->buffer;
    size_t room = sizeof scratch - 1 - before;
    ssize_t n = p->tls ? SSL_read(p->tls, scratch + before, room) : recv(p->fd, scratch + before, room, 0);
    if (n <= 0) {
      int again = p->tls ? SSL_get_error(p->tls, n) == SSL_ERROR_WANT_READ : errno == EAGAIN && n < 0;
      if (!again) disconnect(p, number);
      return;
    }
    p->buffer = scratch;
    p->used += n;
    size_t taken = 0;
    if (p->state == HANDSHAKE) {
      char *end = memmem(scratch, p->used, "\r\n\r\n", 4);
      if (end && !memmem(scratch, p->used, " 101 ", 5)) fail(number, "the handshake was refused");
      if (end && deflates && !memmem(scratch, end - scratch, "permessage-deflate", 18)) fail(number, "no deflate");
      if (end) {
        taken = end + 4 - scratch;
        char text[4096];
        int length = token_count == 0
          ? snprintf(text, sizeof text, "{\"type\":\"connection_init\",\"payload\":%s}", init_payload)
          : snprintf(text, sizeof text, "{\"type\":\"connection_init\",\"payload\":{\"authToken\":\"%s\"%s}}",
                     tokens[number % token_count], cursors ? ",\"martlet\":{\"cursors\":true}" : "");
        send_frame(p, 1, text, length);
        p->state = INIT;
      }
    }
    if (p->state != HANDSHAKE) {
      p->buffer = scratch + taken;
      p->used -= taken;
      taken += take_frames(p, number);
      p->used = before + n - taken;
    }
    p->buffer = own;
    if (p->used > p->room) p->buffer = realloc(own, p->room = p->used + 1);
    memcpy(p->buffer, scratch + taken, p->used);
    if (p->used == 0 && p->room > 0) {
      free(p->buffer);
      p->buffer = 0;
      p->room = 0;
    }
    if (!p->tls && (size_t)n < room) return;
  }
}

// Opens one connection; false when no server listens.
static int open_peer(int number) {
  struct peer *p = &peers[number];
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  p->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (p->fd < 0) {
    perror("socket");
    exit(1);
  }
  if (connect(p->fd, (struct sockaddr *)&address, sizeof address) < 0) {
    close(p->fd);
    p->fd = -1;
    return 0;
  }
  int on = 1;
  setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (secure) {
    p->tls = SSL_new(context);
    SSL_set_fd(p->tls, p->fd);
    if (SSL_connect(p->tls) != 1) {
      fail(number, "no TLS");
      return 0;
    }
  }
  char request[512];
  int length = snprintf(request, sizeof request,
    "GET %s HTTP/1.1\r\nHost: localhost:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s"
    "Sec-WebSocket-Protocol: %s\r\n\r\n",
    path, port, deflates ? "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n" : "", protocol);
  p->state = HANDSHAKE;
  send_bytes(p, request, length);
  fcntl(p->fd, F_SETFL, O_NONBLOCK);
  struct epoll_event interest = {.events = EPOLLIN, .data.u32 = number};
  epoll_ctl(queue, EPOLL_CTL_ADD, p->fd, &interest);
  return 1;
}

static int by_size(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static double quantile(double q) {
  if (sample_count == 0) return 0;
  return samples[(size_t)(q * (sample_count - 1))] * 1e3;
}

static void read_tokens(const char *file) {
  FILE *lines = fopen(file, "r");
  char line[4096];
  if (!lines) { perror(file); exit(66); }
  while (fgets(line, sizeof line, lines)) {
    line[strcspn(line, "\n")] = 0;
    tokens = realloc(tokens, sizeof *tokens * (token_count + 1));
    tokens[token_count++] = strdup(line);
  }
  fclose(lines);
}

static void read_options(int count, char **words) {
  static struct option known[] = {
    {"port", 1, 0, 'p'}, {"path", 1, 0, 'P'}, {"connections", 1, 0, 'c'}, {"per-connection", 1, 0, 'k'},
    {"events", 1, 0, 'e'}, {"timeout", 1, 0, 't'}, {"query", 1, 0, 'q'}, {"protocol", 1, 0, 'r'},
    {"init", 1, 0, 'i'}, {"tokens", 1, 0, 'T'}, {"variables", 1, 0, 'x'}, {"key-field", 1, 0, 'f'}, {"cursors", 0, &cursors, 1},
    {"resume", 0, &resumes, 1}, {"latency", 0, &latencies, 1}, {"deflate", 0, &deflates, 1},
    {"tls", 0, &secure, 1}, {"unchecked", 0, &unchecked, 1}, {0}};
  int option;
  while ((option = getopt_long(count, words, "", known, 0)) != -1) {
    switch (option) {
      case 'p': port = atoi(optarg); break;
      case 'P': path = optarg; break;
      case 'c': connections = atoi(optarg); break;
      case 'k': per_connection = atoi(optarg); break;
      case 'e': wanted = atoi(optarg); break;
      case 't': timeout = atof(optarg); break;
      case 'q': query = optarg; break;
      case 'r': protocol = optarg; break;
      case 'i': init_payload = optarg; break;
      case 'T': read_tokens(optarg); break;
      case 'x': variables = optarg; break;
      case 'f': key_field = optarg; break;
      case 0: break;
      default: exit(64);
    }
  }
  if (cursors) init_payload = "{\"martlet\":{\"cursors\":true}}";
  if (port == 0 || connections == 0 || per_connection < 1) {
    fprintf(stderr, "usage: wsload --port N --connections N --events N --query DOCUMENT [OPTIONS]\n");
    exit(64);
  }
}

int main(int count, char **words) {
  read_options(count, words);
  signal(SIGPIPE, SIG_IGN);
  if (secure) {
    context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  }
  int all = connections * per_connection;
  peers = calloc(connections, sizeof *peers);
  subscriptions = calloc(all, sizeof *subscriptions);
  for (int i = 0; i < all; i++) subscriptions[i].last = -1;
  for (int i = 0; i < connections; i++) peers[i].fd = -1;
  queue = epoll_create1(0);
  int opened = 0, announced = 0, losses = 0;
  double start = seconds(), ready_at = 0, first_cpu = 0, lost_at = 0, back_at = 0, resumed_at = 0;
  struct epoll_event happened[512];
  fcntl(0, F_SETFL, O_NONBLOCK);
  while ((wanted == 0 || finished < all) && seconds() - start < timeout) {
    // Up to 200 handshakes at a time, so that no accept queue overflows.
    while (opened < connections && opened - live - lost < 200) {
      if (!open_peer(opened)) {
        fail(opened, "cannot connect");
        exit(1);
      }
      opened++;
    }
    if (lost > 0 && resumes) {
      if (lost_at == 0) lost_at = seconds();
      int refused = 0;
      for (int i = 0; i < connections && !refused && opened - live - lost < 200; i++) {
        if (peers[i].state != LOST) continue;
        if (open_peer(i)) {
          lost--;
          losses++;
          if (back_at == 0) back_at = seconds();
        } else {
          refused = 1;
          usleep(10000);
        }
      }
    }
    if (lost_at > 0 && resumed_at == 0 && lost == 0 && confirmed == all) {
      resumed_at = seconds();
      printf("resumed %.3f\n", resumed_at - back_at);
      fflush(stdout);
    }
    int n = epoll_wait(queue, happened, 512, lost > 0 && resumes ? 1 : 100);
    for (int i = 0; i < n; i++) {
      int number = happened[i].data.u32;
      if (peers[number].fd >= 0) readable(&peers[number], number);
    }
    if (!announced && live == connections && (!cursors || confirmed == all)) {
      announced = 1;
      ready_at = seconds();
      first_cpu = cpu();
      printf("ready %.3f\n", ready_at - start);
      fflush(stdout);
    }
    if (announced && wanted == 0) {
      char c;
      if (read(0, &c, 1) == 0) break;
    }
    if (failures > 100) break;
  }
  double wall = ready_at > 0 ? seconds() - ready_at : 0;
  qsort(samples, sample_count, sizeof *samples, by_size);
  printf("{\"connections\":%d,\"live\":%d,\"events\":%ld,\"expected\":%ld,\"failures\":%d,\"repeated\":%ld,"
    "\"seconds\":%.3f,\"cpu\":%.3f", connections, live, received, (long)all * wanted, failures, repeated, wall,
    cpu() - first_cpu);
  if (latencies) {
    printf(",\"p50_ms\":%.3f,\"p90_ms\":%.3f,\"p99_ms\":%.3f,\"p999_ms\":%.3f,\"max_ms\":%.3f", quantile(0.5),
      quantile(0.9), quantile(0.99), quantile(0.999), quantile(1));
  }
  if (resumes) {
    printf(",\"reconnects\":%d,\"resume_seconds\":%.3f,\"outage_seconds\":%.3f", losses,
      resumed_at > 0 ? resumed_at - back_at : -1, resumed_at > 0 ? resumed_at - lost_at : -1);
  }
  printf("}\n");
  return failures == 0 && received == (long)all * wanted ? 0 : 1;
}
