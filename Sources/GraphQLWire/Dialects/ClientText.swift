internal import MartletJSON
package import MartletVocabulary

/// A client's message, read apart from its connection's state: what takes time with its length.
package enum ClientText: Sendable {
  /// Of a connection on which clients send none.
  case none
  case transportWS(Result<GraphQLTransportWS.ClientMessage, ConnectionClose>)
  case startStop(StartStopText)
}

/// Reads the messages of one connection. From any thread.
package struct ClientTextReader: Sendable {
  package let read: @Sendable (_ text: [UInt8]) -> ClientText

  init(_ read: @escaping @Sendable ([UInt8]) -> ClientText) {
    self.read = read
  }
}

extension SubscriptionServerMachine {
  /// A text message arrived.
  package mutating func receive(_ text: [UInt8], at now: Instant, actions: inout [SubscriptionServerAction]) {
    receive(reader.read(text), at: now, actions: &actions)
  }
}

/// A message of the two older dialects.
package struct StartStopText: Sendable {
  /// Its length.
  let bytes: Int
  /// The object that it is, or why it is none.
  let root: Result<JSONTape.Element, ConnectionClose>
  /// What a `start` asks for; nil for other messages, and for a `start` without a payload.
  let start: Result<StartStopRequest, GraphQLRequestError>?

  /// - Parameter start: Reads the payload of a `start`.
  init(
    _ text: [UInt8], _ limits: JSONLimits,
    start: (JSONTape.Element?) throws(GraphQLRequestError) -> StartStopRequest?
  ) {
    bytes = text.count
    root = Result { () throws(ConnectionClose) in try MessageParsing.root(text, limits) { .badRequest($0) } }
    guard case .success(let message) = root, message["type"]?.string == "start" else {
      self.start = nil
      return
    }
    do throws(GraphQLRequestError) {
      self.start = try start(message["payload"]).map { .success($0) }
    } catch {
      self.start = .failure(error)
    }
  }
}

/// What a `start` asks for.
package struct StartStopRequest: Sendable {
  var request: RequestPayload
  /// Its own authorization, in the dialect where each operation has one.
  var authorization: JSONObject?
  /// The length of its payload.
  var bytes: Int
}
