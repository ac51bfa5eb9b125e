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

  /// Appends the frames of events that are committed together. What is the same for all of them is done once: of 10,000
  /// members with eight events each, most of what is not the kernel's is looking at the member's own objects.
  func write(_ events: [FeedEvent], from first: Int, to member: Member) {
    guard case .socket(let socket) = outlet, socket.compression == nil else {
      for position in first..<events.count { write(GraphQLEvent.of(events[position]), to: member) }
      return
    }
    let (prefix, hasCursors) = (member.prefix, member.hasCursors)
    socket.appendFrames {
      for position in first..<events.count {
        let event = GraphQLEvent.of(events[position])
        WebSocketFrame.appendText(
          prefix: prefix, payload: event.payload, suffix: hasCursors ? event.suffix : EventSuffix.plain, to: &$0.bytes)
      }
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
