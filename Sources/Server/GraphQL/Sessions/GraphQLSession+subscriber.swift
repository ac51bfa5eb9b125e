internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletRuntime
internal import MartletSockets
internal import MartletVocabulary
internal import MartletWire

extension GraphQLSession: Subscriber {
  func members(of feed: Feed) -> [Member] {
    operations.sorted { $0.key < $1.key }.compactMap { _, operation in
      if case .member(let member) = operation { member } else { nil }
    }
  }

  // MARK: Writing

  /// Appends an event's frame to the socket's outgoing bytes. Nothing is allocated.
  func write(_ event: FeedEvent, to member: Member) {
    guard let event = event as? GraphQLEvent else {
      preconditionFailure("events of a GraphQL group are GraphQL events")
    }
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

  // MARK: Backlog

  var hasRoom: Bool { pendingBytes < service.node.limits.session.catchUpBytes }

  var isLagging: Bool { pendingBytes > service.node.limits.session.highWaterBytes }

  /// Bytes the transport has not taken yet.
  private var pendingBytes: Int {
    switch outlet {
    case .socket(let socket): socket.pendingBytes
    case .stream(let stream): stream.pendingBytes
    case .none, .ended: 0
    }
  }

  /// Looks again after this turn's send: either there is room then, or `drained` is called later.
  func continueNextTurn() {
    guard !isResumeScheduled else { return }
    isResumeScheduled = true
    let bound = LoopBound(self, on: service.loop)
    service.loop.execute {
      bound.value.isResumeScheduled = false
      if bound.value.hasRoom { bound.value.resume() }
    }
  }

  /// The transport has room: continues catch-ups and source streams.
  func resume() {
    service.feed.resume(self)
    let blocked = blockedStreams
    blockedStreams = []
    for resume in blocked { resume() }
  }

  // MARK: Progress

  func caughtUp(_ member: Member, at cursor: Cursor) {
    let view = (member.group as? GraphQLGroup)?.view
    step { machine, actions in machine.ready(member.number, cursor, view: view, actions: &actions) }
  }

  /// Reports what a member has lost. In the plain protocol that is an error, which ends the operation.
  func gap(_ member: Member, _ reason: GapReason, from: Cursor?, to: Cursor) {
    guard member.hasCursors else {
      stop(member.number)
      let error = ResponseError(
        "Events were lost: \(reason.rawValue).", extensions: ["code": "GAP", "reason": .string(reason.rawValue)])
      return step { $0.fail(member.number, errors: Self.list([error]), actions: &$1) }
    }
    let gap = SubscriptionGap(reason: reason.wireName, from: from, to: to)
    step { machine, actions in machine.gap(member.number, gap, actions: &actions) }
  }
}

extension GapReason {
  /// The reason's name on the wire (docs/PROTOCOL.md).
  var wireName: String {
    switch self {
    case .retention: "retention"
    case .unknownTerm, .beyondTerm: "lineage"
    case .schemaChange: "schema"
    case .viewChanged: "view-changed"
    case .damage: "damage"
    case .sourceCannotResume: "source"
    }
  }
}
