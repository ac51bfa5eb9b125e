package import MartletHTTPWire
internal import MartletJSON

/// Subscriptions over multipart HTTP (version 1.0): each part is one JSON message, an empty object between events
/// shows that the peer is alive, and the closing boundary completes the subscription.
package enum MultipartSubscription {
  /// A message from a server to its client.
  package enum Message: Equatable, Sendable {
    /// Nothing happened; the peer is alive.
    case heartbeat
    /// An execution result, as its JSON text. Errors inside it do not end the stream.
    case payload([UInt8])
    /// The stream failed: a JSON list of errors. The server ends it afterwards.
    case failed([UInt8])
    /// The subscription has completed.
    case completed
  }

  /// Why a body is not a subscription's.
  package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
    case multipart(MultipartFailure)
    /// A part is not the JSON it should be.
    case message(part: Int, String)

    package var description: String {
      switch self {
      case .multipart(let failure): failure.description
      case .message(let part, let what): "multipart subscription, part \(part + 1): \(what)"
      }
    }
  }

  /// Reads a response body from bytes in any cut. `completed` and `failed` are last: nothing follows them.
  package struct Reader {
    private var parts: MultipartReader
    /// Parts handled so far.
    private var count = 0
    private var isOver = false

    package init(contentType: String, limits: MultipartLimits = MultipartLimits()) throws(Failure) {
      do throws(MultipartFailure) {
        parts = try MultipartReader(contentType: contentType, limits: limits)
      } catch {
        throw .multipart(error)
      }
    }

    /// Takes bytes as they arrived. Messages before a failure are appended.
    package mutating func receive(_ bytes: [UInt8], messages: inout [Message]) throws(Failure) {
      if isOver { return }
      var found: [MultipartPart] = []
      var broken: MultipartFailure?
      do throws(MultipartFailure) {
        try parts.receive(bytes, parts: &found)
      } catch {
        broken = error
      }
      for part in found where !isOver { try read(part, &messages) }
      if isOver { return }
      if let broken { throw .multipart(broken) }
      if parts.hasEnded {
        isOver = true
        messages.append(.completed)
      }
    }

    /// The response has ended. Without a closing boundary that is a failure, not completion.
    package mutating func inputEnded() throws(Failure) {
      if isOver { return }
      do throws(MultipartFailure) {
        try parts.inputEnded()
      } catch {
        throw .multipart(error)
      }
    }

    private mutating func read(_ part: MultipartPart, _ messages: inout [Message]) throws(Failure) {
      defer { count += 1 }
      // A part without content carries nothing.
      if part.body.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }) { return }
      let message: JSONTape.Element
      do throws(JSONError) {
        message = try JSONTape(part.body, limits: .held(part.body)).root
      } catch {
        throw .message(part: count, error.description)
      }
      guard message.kind == .object else { throw .message(part: count, "the message is not an object") }
      let payload = message["payload"]
      let errors = message["errors"]
      if let payload, !payload.isNull {
        guard payload.kind == .object else { throw .message(part: count, "\"payload\" is not an object") }
        messages.append(.payload([UInt8](payload.rawBytes)))
      } else if payload == nil, message["data"] != nil {
        // Some servers send a bare result.
        messages.append(.payload(part.body))
        return
      }
      if let errors, !errors.isNull {
        guard errors.kind == .array else { throw .message(part: count, "\"errors\" is not a list") }
        messages.append(.failed([UInt8](errors.rawBytes)))
        isOver = true
      } else if payload?.isNull != false {
        messages.append(.heartbeat)
      }
    }
  }

  /// What a server writes. Each part says its length and carries the boundary after it: clients hand a part over when
  /// they have read that many bytes, or when they see the boundary.
  package enum Writing {
    /// The boundary has the one name that older clients know, in the one form they find.
    package static let contentType = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0"
    /// The first boundary; before anything else.
    package static let opening = Array("--graphql".utf8)
    /// The bytes before the result of an event, which is `length` bytes long.
    package static func eventPrefix(length: Int) -> [UInt8] {
      head(length: opened.count + length + 1) + opened
    }
    /// The bytes after the result of an event.
    package static let eventSuffix = Array("}\r\n--graphql".utf8)
    package static let heartbeat = head(length: 2) + Array("{}\r\n--graphql".utf8)

    private static let opened = Array("{\"payload\":".utf8)

    private static func head(length: Int) -> [UInt8] {
      Array("\r\nContent-Type: application/json\r\nContent-Length: \(length)\r\n\r\n".utf8)
    }
    /// Makes the boundary already sent the closing one.
    package static let end = Array("--\r\n".utf8)

    /// The part that reports a failure of the stream. `end` follows.
    package static func failure(errors: [UInt8]) -> [UInt8] {
      let start = Array("{\"payload\":null,\"errors\":".utf8)
      return head(length: start.count + errors.count + 1) + start + errors + eventSuffix
    }
  }
}
