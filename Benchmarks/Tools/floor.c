// The floor of the fan-out figures: the least a sender of WebSocket frames can do in plain C with epoll and send.
//
//   floor PORT FRAME
//
// Accepts subscribers that speak graphql-transport-ws (as wsload does), and on the line `go ROUNDS BURST INTERVAL_US` on
// standard input sends every subscriber BURST frames in one send, ROUNDS times. FRAME is a file with the text of one
// event as the server sends it, in which @I@ is the subscriber's own id, @N@ the event's number, @X@ the number's
// checksum and @O@ the event's offset. What follows the id is written once per event, as a server would.
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
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { HANDSHAKE, OPEN };

struct peer {
  int fd, state, subscribed;
  size_t used, id_length;
  char id[24], input[4096];
};

static struct peer *peers[20000];
static int count;
static char frame[8192], head_text[256], *tail_text;
static char tails[64][2048];
static size_t tail_lengths[64];

static uint64_t checksum(long value) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%ld", value);
  uint64_t hash = 0xcbf29ce484222325ull;
  for (int i = 0; i < length; i++) hash = (hash ^ (unsigned char)digits[i]) * 0x100000001b3ull;
  return hash;
}

static size_t write_tail(char *out, long n) {
  char *start = out;
  for (const char *at = tail_text; *at;) {
    if (at[0] == '@' && at[1] && at[2] == '@') {
      if (at[1] == 'X') {
        out += sprintf(out, "%016llx", (unsigned long long)checksum(n));
      } else {
        out += sprintf(out, "%ld", at[1] == 'O' ? n + 1 : n);
      }
      at += 3;
    } else {
      *out++ = *at++;
    }
  }
  return out - start;
}

static size_t write_head(unsigned char *out, size_t length) {
  out[0] = 0x81;
  if (length < 126) {
    out[1] = length;
    return 2;
  }
  out[1] = 126;
  out[2] = length >> 8;
  out[3] = length & 255;
  return 4;
}

static void send_text(struct peer *p, const char *text) {
  unsigned char out[2048];
  size_t length = strlen(text), at = write_head(out, length);
  memcpy(out + at, text, length);
  if (send(p->fd, out, at + length, MSG_NOSIGNAL) < 0) perror("send");
}

static void take_text(struct peer *p, char *text, size_t length) {
  char saved = text[length], answer[256];
  text[length] = 0;
  if (strstr(text, "connection_init")) {
    send_text(p, "{\"type\":\"connection_ack\",\"payload\":{\"martlet\":{\"cursors\":true}}}");
  } else if (strstr(text, "\"subscribe\"")) {
    char *id = strstr(text, "\"id\":\"");
    char *end = id ? strchr(id + 6, '"') : 0;
    if (end && end - id - 6 < (long)sizeof p->id) {
      p->id_length = end - id - 6;
      memcpy(p->id, id + 6, p->id_length);
      p->subscribed = 1;
      snprintf(answer, sizeof answer, "{\"id\":\"%.*s\",\"type\":\"ready\",\"cursor\":\"f-0\"}", (int)p->id_length, p->id);
      send_text(p, answer);
    }
  }
  text[length] = saved;
}

static void readable(struct peer *p) {
  ssize_t n = recv(p->fd, p->input + p->used, sizeof p->input - 1 - p->used, 0);
  if (n <= 0) {
    if (n < 0 && errno == EAGAIN) return;
    close(p->fd);
    p->fd = -1;
    return;
  }
  p->used += n;
  if (p->state == HANDSHAKE) {
    char *end = memmem(p->input, p->used, "\r\n\r\n", 4);
    if (!end) return;
    // The load client always sends the key of RFC 6455's example.
    const char *answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n";
    send(p->fd, answer, strlen(answer), MSG_NOSIGNAL);
    p->state = OPEN;
    size_t taken = end + 4 - p->input;
    memmove(p->input, end + 4, p->used -= taken);
  }
  while (p->used >= 6) {
    unsigned char *b = (unsigned char *)p->input;
    size_t head = 6, length = b[1] & 127;
    if (length == 126) {
      if (p->used < 8) break;
      length = b[2] << 8 | b[3];
      head = 8;
    }
    if (p->used < head + length) break;
    // The load client masks with zero.
    if ((b[0] & 15) == 1) take_text(p, p->input + head, length);
    memmove(p->input, p->input + head + length, p->used -= head + length);
  }
}

int main(int words, char **word) {
  if (words < 3) {
    fprintf(stderr, "usage: floor PORT FRAME\n");
    return 64;
  }
  signal(SIGPIPE, SIG_IGN);
  FILE *file = fopen(word[2], "r");
  size_t size = file ? fread(frame, 1, sizeof frame - 1, file) : 0;
  while (size > 0 && frame[size - 1] == '\n') frame[--size] = 0;
  char *mark = strstr(frame, "@I@");
  if (!mark) {
    fprintf(stderr, "floor: %s has no @I@\n", word[2]);
    return 65;
  }
  *mark = 0;
  if (mark - frame >= (long)sizeof head_text) return 65;
  memcpy(head_text, frame, mark - frame);
  tail_text = mark + 3;
  size_t head_length = strlen(head_text);

  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(word[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 4096) < 0) {
    perror("listen");
    return 1;
  }
  int queue = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct epoll_event watch = {.events = EPOLLIN, .data.u32 = 100000};
  epoll_ctl(queue, EPOLL_CTL_ADD, listener, &watch);
  watch.data.u32 = 100001;
  epoll_ctl(queue, EPOLL_CTL_ADD, 0, &watch);
  watch.data.u32 = 100002;
  epoll_ctl(queue, EPOLL_CTL_ADD, timer, &watch);
  printf("listening\n");
  fflush(stdout);

  long number = 0, rounds = 0, sends = 0;
  int burst = 1;
  static char out[64 * 2304];
  struct epoll_event happened[256];
  for (;;) {
    int n = epoll_wait(queue, happened, 256, -1);
    for (int i = 0; i < n; i++) {
      uint32_t which = happened[i].data.u32;
      if (which == 100000) {
        int fd;
        while (count < 20000 && (fd = accept4(listener, 0, 0, SOCK_NONBLOCK)) >= 0) {
          setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
          struct peer *p = calloc(1, sizeof *p);
          p->fd = fd;
          peers[count] = p;
          struct epoll_event interest = {.events = EPOLLIN, .data.u32 = count++};
          epoll_ctl(queue, EPOLL_CTL_ADD, fd, &interest);
        }
      } else if (which == 100001) {
        char line[128];
        ssize_t length = read(0, line, sizeof line - 1);
        if (length <= 0) return 0;
        line[length] = 0;
        long interval;
        if (sscanf(line, "go %ld %d %ld", &rounds, &burst, &interval) == 3 && burst >= 1 && burst <= 64) {
          struct itimerspec pace = {{interval / 1000000, interval % 1000000 * 1000}, {0, 1000000}};
          timerfd_settime(timer, 0, &pace, 0);
        }
      } else if (which == 100002) {
        uint64_t ticks;
        if (read(timer, &ticks, sizeof ticks) < 0 || rounds == 0) continue;
        for (int b = 0; b < burst; b++) tail_lengths[b] = write_tail(tails[b], number++);
        for (int member = 0; member < count; member++) {
          struct peer *p = peers[member];
          if (p->fd < 0 || !p->subscribed) continue;
          size_t at = 0;
          for (int b = 0; b < burst; b++) {
            at += write_head((unsigned char *)out + at, head_length + p->id_length + tail_lengths[b]);
            memcpy(out + at, head_text, head_length);
            at += head_length;
            memcpy(out + at, p->id, p->id_length);
            at += p->id_length;
            memcpy(out + at, tails[b], tail_lengths[b]);
            at += tail_lengths[b];
          }
          sends++;
          if (send(p->fd, out, at, MSG_NOSIGNAL) != (ssize_t)at) {
            fprintf(stderr, "floor: a peer did not take its frames\n");
            return 1;
          }
        }
        if (--rounds == 0) {
          struct itimerspec stop = {0};
          timerfd_settime(timer, 0, &stop, 0);
          printf("done %ld sends\n", sends);
          fflush(stdout);
        }
      } else if (peers[which]->fd >= 0) {
        readable(peers[which]);
      }
    }
  }
}
