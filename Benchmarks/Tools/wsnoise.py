"""One noisy identity over WebSockets: sends the same operation again and again, and reads and drops what comes back.

    wsnoise.py PORT TOKEN SECONDS RATE SOCKETS DOCUMENT

RATE operations a second over SOCKETS sockets, each with an id of its own. What a socket does not take, because the server has stopped reading
it, is not sent later. Prints how many were sent, answered and refused.
"""

import base64
import json
import os
import select
import socket
import struct
import sys
import time


def frame(message):
    """A masked text frame; the mask is zero, so that the bytes stand as they are."""
    payload = json.dumps(message).encode()
    size = len(payload)
    head = bytes([0x81, 0x80 | size]) if size < 126 else bytes([0x81, 0x80 | 126]) + struct.pack(">H", size)
    return head + bytes(4) + payload


def connect(port, token):
    peer = socket.create_connection(("127.0.0.1", port))
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    key = base64.b64encode(os.urandom(16)).decode()
    peer.sendall((
        "GET /graphql HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: %s\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\nAuthorization: Bearer %s\r\n\r\n"
        % (port, key, token)).encode())
    received = b""
    while b"\r\n\r\n" not in received:
        received += peer.recv(65536)
    if not received.startswith(b"HTTP/1.1 101 "):
        raise SystemExit("wsnoise: %r" % received[:200])
    peer.sendall(frame({"type": "connection_init"}))
    while b"connection_ack" not in received:
        part = peer.recv(65536)
        if not part:
            raise SystemExit("wsnoise: %r" % received[-200:])
        received += part
    peer.setblocking(False)
    return peer


def main():
    port, token, seconds, rate, count = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
    peers = [connect(port, token) for _ in range(count)]
    frames = [frame({"id": str(number), "type": "subscribe", "payload": {"query": sys.argv[6]}}) for number in range(1000)]
    sent = answered = refused = 0
    begun = time.monotonic()
    while (now := time.monotonic() - begun) < seconds:
        while sent < now * rate:
            peer, message = peers[sent % count], frames[sent % 1000]
            try:
                # A part of a frame would spoil the socket.
                taken = peer.send(message)
                while taken < len(message):
                    select.select([], [peer], [])
                    taken += peer.send(message[taken:])
            except BlockingIOError:
                pass
            sent += 1
        for peer in select.select(peers, [], [], 0.004)[0]:
            part = peer.recv(1 << 18)
            if not part:
                raise SystemExit("wsnoise: the server has closed a socket")
            answered += part.count(b'"type":"next"')
            refused += part.count(b"RATE_LIMITED")
    print("%d %d %d" % (sent, answered, refused))


if __name__ == "__main__":
    main()
