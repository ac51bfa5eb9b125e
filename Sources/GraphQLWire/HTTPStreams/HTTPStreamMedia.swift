package import MartletWire

/// The forms in which one HTTP response carries the results of one operation as they come.
package enum HTTPStreamMedia: Sendable, Hashable, CaseIterable {
  /// `multipart/mixed` with `subscriptionSpec=1.0`.
  case multipart
  /// `text/event-stream`, GraphQL over server-sent events in distinct mode.
  case eventStream

  /// The head of the response. Nothing on the way may keep or gather what comes.
  package var head: HTTPResponseHead {
    let contentType =
      switch self {
      case .multipart: MultipartSubscription.Writing.contentType
      case .eventStream: EventStreamSubscription.Writing.contentType
      }
    return HTTPResponseHead(
      status: 200,
      headers: HTTPHeaders([
        ("Content-Type", contentType), ("Cache-Control", "no-cache"), ("X-Accel-Buffering", "no"),
      ]))
  }

  /// The first bytes of the body.
  package var opening: [UInt8] {
    switch self {
    case .multipart: MultipartSubscription.Writing.opening + MultipartSubscription.Writing.heartbeat
    case .eventStream: EventStreamSubscription.Writing.opening
    }
  }

  /// The bytes before a result, which is `length` bytes long.
  package func eventPrefix(length: Int) -> [UInt8] {
    switch self {
    case .multipart: MultipartSubscription.Writing.eventPrefix(length: length)
    case .eventStream: EventStreamSubscription.Writing.eventPrefix
    }
  }

  /// Written after a result.
  package var eventSuffix: [UInt8] {
    switch self {
    case .multipart: MultipartSubscription.Writing.eventSuffix
    case .eventStream: EventStreamSubscription.Writing.eventSuffix
    }
  }

  /// Says that the server is alive, and finds out whether the client is.
  package var heartbeat: [UInt8] {
    switch self {
    case .multipart: MultipartSubscription.Writing.heartbeat
    case .eventStream: EventStreamSubscription.Writing.heartbeat
    }
  }

  /// Completes the operation.
  package var end: [UInt8] {
    switch self {
    case .multipart: MultipartSubscription.Writing.end
    case .eventStream: EventStreamSubscription.Writing.end
    }
  }

  /// One result.
  package func event(_ payload: [UInt8]) -> [UInt8] { eventPrefix(length: payload.count) + payload + eventSuffix }

  // MARK: Negotiation

  /// What a client accepts by name: the heaviest, then the first. Ranges do not count, as no client that accepts
  /// anything expects an answer without end.
  static func choice(
    _ accepted: [AcceptedMediaType]
  ) -> (media: HTTPStreamMedia, weight: Int, place: Int)? {
    var best: (media: HTTPStreamMedia, weight: Int, place: Int)?
    for (place, element) in accepted.enumerated() where element.weight > best?.weight ?? 0 {
      guard let media = HTTPStreamMedia(element.mediaType) else { continue }
      best = (media, element.weight, place)
    }
    return best
  }

  private init?(_ type: MediaType) {
    if type.matches("text", "event-stream") {
      self = .eventStream
    } else if type.matches("multipart", "mixed"), type["subscriptionspec"]?.utf8.elementsEqual("1.0".utf8) == true {
      self = .multipart
    } else {
      return nil
    }
  }
}
