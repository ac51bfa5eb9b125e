package import MartletHTTPWire

/// A request to be sent as it stands.
package struct HTTPCall: Sendable {
  package var head: HTTPRequestHead
  package var body: RequestBody
  /// An answer of the type `multipart/mixed` is handed over part by part.
  package var takesParts = false
  /// Not on a connection that has carried something before: its server may just be closing it.
  package var needsFreshConnection = false

  package init(head: HTTPRequestHead, body: [UInt8]) {
    self.init(head: head, body: RequestBody(body))
  }

  package init(head: HTTPRequestHead, body: RequestBody) {
    self.head = head
    self.body = body
  }
}

/// A whole response.
package struct HTTPAnswer: Sendable {
  package var head: HTTPResponseHead
  /// Empty when it came in parts.
  package var body: [UInt8]
  /// How many parts were handed over; nil for a body in one piece.
  package var parts: Int?
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
    /// The answer's parts are malformed, or end before their end.
    case parts(MultipartFailure)
    /// A file of the request cannot be read.
    case file(String)
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
    case .parts(let failure): failure.description
    case .file(let text): text
    case .queueIsFull: "too many requests wait for a connection"
    }
  }
}

/// A call under way; confined to its loop.
package final class HTTPTicket {
  let call: HTTPCall
  /// Takes the answer's parts.
  private(set) var part: (([UInt8]) -> Void)?
  /// A stretch of the request's body has left.
  private(set) var moved: (() -> Void)?
  private var completion: ((Result<HTTPAnswer, HTTPLoss>) -> Void)?
  var stage = HTTPLoss.Stage.waiting
  /// Abandons it; set by the owner of the call.
  var abandon: (() -> Void)?

  init(
    _ call: HTTPCall, part: (([UInt8]) -> Void)?, moved: (() -> Void)?,
    _ completion: @escaping (Result<HTTPAnswer, HTTPLoss>) -> Void
  ) {
    self.call = call
    self.part = part
    self.moved = moved
    self.completion = completion
  }

  var isOver: Bool { completion == nil }

  func end(_ result: Result<HTTPAnswer, HTTPLoss>) {
    let told = completion
    forget()
    told?(result)
  }

  /// Ends the call without an answer. A request that was written takes its connection with it.
  package func cancel() {
    let abandoning = abandon
    forget()
    abandoning?()
  }

  private func forget() {
    completion = nil
    part = nil
    moved = nil
    abandon = nil
  }
}
