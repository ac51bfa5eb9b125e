package import MartletJSON

/// Which changes of a node a channel delivers.
package struct ChannelEvents: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The node's value has changed.
  package static let valueChange = ChannelEvents(rawValue: 1)
  /// A child exists that did not.
  package static let childAddition = ChannelEvents(rawValue: 2)
  /// The value of a child has changed, at any depth.
  package static let childChange = ChannelEvents(rawValue: 4)
  /// A child no longer exists.
  package static let childRemoval = ChannelEvents(rawValue: 8)
  /// All that happens to children.
  package static let childEvent: ChannelEvents = [.childAddition, .childChange, .childRemoval]

  private static let names: [(ChannelEvents, String)] = [
    (.valueChange, "valueChange"), (.childAddition, "childAddition"), (.childChange, "childChange"),
    (.childRemoval, "childRemoval"), (.childEvent, "childEvent"),
  ]

  /// Reads the names of kinds: one text or a list. Kinds of children are combined; the value's kind stands alone.
  package init(_ json: JSONValue) throws(ChannelError) {
    let names: [JSONValue] = json.array ?? [json]
    self = []
    for name in names {
      let known = name.string.flatMap { text in Self.names.first { $0.1.hasSameBytes(as: text) } }
      guard let known else {
        throw ChannelError(
          .events,
          "\(name) is not a kind of event; the kinds are valueChange, childAddition, "
            + "childChange, childRemoval and childEvent")
      }
      insert(known.0)
    }
    guard !isEmpty else { throw ChannelError(.events, "no kind of event is named") }
    guard self == .valueChange || !contains(.valueChange) else {
      throw ChannelError(.events, "valueChange cannot be combined with kinds of children")
    }
  }

  /// The names of the single kinds.
  package var json: JSONValue { .array(Self.names.dropLast().filter { contains($0.0) }.map { .string($0.1) }) }

  /// The name of one kind.
  var name: String { Self.names.first { $0.0 == self }?.1 ?? "" }
}

/// Why a channel, its target or its record cannot be used.
package struct ChannelError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Code: Sendable { case definition, events, target, record, signature, address }

  package let code: Code
  /// A clause that names what was wrong.
  package let description: String

  package init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
