package import MartletWireProtocols

/// A request to be sent as it stands.
package struct HTTPCall: Sendable {
  package var head: HTTPRequestHead
  package var body: [UInt8]
  /// Not on a connection that has carried something before: its server may just be closing it.
  package var needsFreshConnection = false

  package init(head: HTTPRequestHead, body: [UInt8]) {
    self.head = head
    self.body = body
  }
}

/// A whole response.
package struct HTTPAnswer: Sendable {
  package var head: HTTPResponseHead
  package var body: [UInt8]
}

/// Why there is no answer, and how far the request had come.
package struct HTTPLoss: Error, Sendable, CustomStringConvertible {
  package enum Stage: Sendable {
    /// Nothing was written.
    case waiting
    /// The request was written, and nothing has come back.
    case sent
    /// A part of the answer has come back.
    case answering
  }
  package enum Cause: Sendable {
    /// No connection came about, or it ended.
    case connection(String)
    /// The answer broke HTTP or a limit.
    case answer(HTTPFailure)
    /// Too many requests wait already.
    case queueIsFull
  }

  package var cause: Cause
  package var stage: Stage
  /// Whether the connection had carried something before.
  package var wasKept: Bool

  package var description: String {
    switch cause {
    case .connection(let text): text
    case .answer(let failure): failure.description
    case .queueIsFull: "too many requests wait for a connection"
    }
  }
}

/// A call under way; confined to its loop.
package final class HTTPTicket {
  let call: HTTPCall
  private var completion: ((Result<HTTPAnswer, HTTPLoss>) -> Void)?
  var stage = HTTPLoss.Stage.waiting
  /// Abandons it; set by whoever holds the call.
  var abandon: (() -> Void)?

  init(_ call: HTTPCall, _ completion: @escaping (Result<HTTPAnswer, HTTPLoss>) -> Void) {
    self.call = call
    self.completion = completion
  }

  var isOver: Bool { completion == nil }

  func end(_ result: Result<HTTPAnswer, HTTPLoss>) {
    let told = completion
    completion = nil
    abandon = nil
    told?(result)
  }

  /// Ends the call without an answer. A request that was written takes its connection with it.
  package func cancel() {
    completion = nil
    let abandoning = abandon
    abandon = nil
    abandoning?()
  }
}
