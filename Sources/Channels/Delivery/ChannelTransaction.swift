package import MartletJSONTree

/// One event as it is sent, with the id under which a receiver recognises a repeated delivery.
package struct ChannelEvent: Sendable, Hashable {
  /// The same in every attempt, also after a restart.
  package let id: String
  /// Its number within its transaction. Numbers may be left out.
  package let number: Int
  /// The whole body, JSON.
  package let body: [UInt8]

  package init(id: String, number: Int, body: [UInt8]) {
    self.id = id
    self.number = number
    self.body = body
  }
}

/// What a channel delivers of one transaction of the log.
package struct ChannelTransaction: Sendable {
  /// The offset of its last change.
  package var offset: Int64
  package var events: [ChannelEvent]
  /// The children that the node has, or no longer has, after it.
  package var existence: [(key: TreeKey, exists: Bool)] = []

  package init(offset: Int64, events: [ChannelEvent], existence: [(key: TreeKey, exists: Bool)] = []) {
    self.offset = offset
    self.events = events
    self.existence = existence
  }

  var byteCount: Int { events.reduce(0) { $0 + $1.body.count } }
}

/// An event that was given up.
package struct UndeliveredEvent: Sendable, Hashable {
  package var event: ChannelEvent
  /// Why the last attempt failed. Never contains a credential.
  package var reason: String
  package var attempts: Int
  /// When it was given up, in milliseconds since 1970.
  package var time: Int64

  package init(event: ChannelEvent, reason: String, attempts: Int, time: Int64) {
    self.event = event
    self.reason = reason
    self.attempts = attempts
    self.time = time
  }
}
