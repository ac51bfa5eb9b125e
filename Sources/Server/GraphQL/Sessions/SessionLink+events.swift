internal import MartletGraphQLWire
internal import MartletRuntime
internal import MartletSockets
internal import MartletWire

extension SessionLink {
  /// Appends an event's frame to the outgoing bytes. Nothing is allocated.
  func write(_ event: GraphQLEvent, to member: Member) {
    switch outlet {
    case .socket(let socket):
      let suffix = member.hasCursors ? event.suffix : EventSuffix.plain
      if let compression = socket.compression {
        return writeCompressed(event, member.prefix, suffix, on: socket, compression)
      }
      socket.appendFrames {
        WebSocketFrame.appendText(prefix: member.prefix, payload: event.payload, suffix: suffix, to: &$0.bytes)
      }
    case .stream(let stream): stream.send(event, to: member)
    case .none, .ended: break
    }
  }

  /// The shared payload is compressed once and stands between stored blocks with the member's own bytes. A socket that
  /// keeps its context cannot share, and compresses the whole message itself.
  private func writeCompressed(
    _ event: GraphQLEvent, _ prefix: [UInt8], _ suffix: [UInt8], on socket: WebSocketChannel,
    _ compression: any WebSocketCompression
  ) {
    guard let bits = (compression as? ZlibCompression)?.sharedWindowBits else {
      return socket.send(text: prefix + event.payload + suffix)
    }
    guard event.payload.count >= service.node.limits.webSocket.compressionThreshold else {
      return socket.appendFrames {
        WebSocketFrame.appendText(prefix: prefix, payload: event.payload, suffix: suffix, to: &$0.bytes)
      }
    }
    let deflated = event.deflated(windowBits: bits, pool: service.transport.zlib)
    socket.appendFrames {
      WebSocketFrame.appendCompressedText(prefix: prefix, deflated: deflated, suffix: suffix, to: &$0.bytes)
    }
  }

  /// Bytes the transport has not taken yet.
  var pendingBytes: Int {
    switch outlet {
    case .socket(let socket): socket.pendingBytes
    case .stream(let stream): stream.pendingBytes
    case .none, .ended: 0
    }
  }
}
