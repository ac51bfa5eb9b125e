import MartletGraphQLWire
import MartletJSON
import MartletLoop
import MartletRuntime
import MartletSockets
import MartletWire

/// One HTTP request whose answer is read while it comes.
///
/// `@unchecked Sendable` because what changes is touched on the loop only.
final class StreamedResponse: ByteChannelHandler, @unchecked Sendable {
  enum Heard: Sendable, Equatable {
    case head(status: Int, contentType: String?)
    /// A result; the name of its form's failure where it is one.
    case result(JSONValue)
    case failed(JSONValue)
    /// An event of a stream that is read as it is.
    case event(StreamEvent)
    case heartbeat
    case completed
    /// The response has ended as HTTP says.
    case ended
    case closed
  }

  private let loop: EpollLoop
  private var machine = HTTPClientMachine()
  private var multipart: MultipartSubscription.Reader?
  private var events: EventStreamSubscription.Reader?
  /// Reads events as they are, with their identifiers.
  private var plainEvents: EventStreamReader?
  private var channel: (any ByteChannel)?
  private let stream: AsyncStream<Heard>
  private let tell: AsyncStream<Heard>.Continuation
  private var history: [Heard] = []

  private init(_ loop: EpollLoop) {
    self.loop = loop
    (stream, tell) = AsyncStream.makeStream()
  }

  /// Subscribes by POST.
  static func open(
    _ query: String, accept: String, target: String = "/graphql", extensions: JSONObject = [:],
    headers: [(String, String)] = [], readingEvents: Bool = false, port: Int
  ) async throws -> StreamedResponse {
    var request: JSONObject = ["query": .string(query)]
    if !extensions.isEmpty { request["extensions"] = .object(extensions) }
    return try await send(
      HTTPRequestHead(
        method: "POST", target: target,
        headers: HTTPHeaders(
          [("Host", "127.0.0.1:\(port)"), ("Content-Type", "application/json"), ("Accept", accept)] + headers)),
      body: JSONValue.object(request).serialized(), readingEvents: readingEvents, port: port)
  }

  static func send(
    _ head: HTTPRequestHead, body: [UInt8]?, readingEvents: Bool = false, port: Int
  ) async throws -> StreamedResponse {
    let loop = try TestLoop.shared()
    let response = StreamedResponse(loop)
    if readingEvents { response.plainEvents = EventStreamReader() }
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      loop.execute {
        _ = SocketConnector().connect(
          to: ConnectionTarget(host: "127.0.0.1", port: port, isSecure: false), on: loop, handler: response
        ) { result in
          switch result {
          case .success(let channel):
            response.channel = channel
            channel.write { response.machine.send(head, body: body, to: &$0.bytes) }
            done.resume()
          case .failure(let error): done.resume(throwing: error)
          }
        }
      }
    }
    return response
  }

  /// Everything received up to and with the first that `isLast` holds of.
  func heard(until isLast: (Heard) -> Bool) async -> [Heard] {
    var all: [Heard] = []
    for await heard in stream {
      all.append(heard)
      if isLast(heard) || heard == .closed { break }
    }
    return all
  }

  /// Everything received by now, on the loop's word.
  func soFar() async -> [Heard] {
    await withCheckedContinuation { done in loop.execute { done.resume(returning: self.history) } }
  }

  /// Everything up to the end of the response.
  func all() async -> [Heard] { await heard { $0 == .ended } }

  /// Stops or continues reading.
  func setReading(_ isReading: Bool) { loop.execute { self.channel?.isReading = isReading } }

  func abort() { loop.execute { self.channel?.abort() } }

  // MARK: On the loop

  private func note(_ heard: Heard) {
    history.append(heard)
    tell.yield(heard)
  }

  func received(_ bytes: borrowing RawSpan) {
    var found: [HTTPClientEvent] = []
    machine.receive(bytes, events: &found)
    for event in found { handle(event) }
  }

  private func handle(_ event: HTTPClientEvent) {
    switch event {
    case .response(let head):
      let type = head.headers["Content-Type"]
      note(.head(status: head.status, contentType: type))
      multipart = try? MultipartSubscription.Reader(contentType: type ?? "")
      if type?.hasPrefix("text/event-stream") == true { events = EventStreamSubscription.Reader() }
    case .body(let piece): read(piece)
    case .responseEnded: note(.ended)
    case .informational, .upgraded, .failed: break
    }
  }

  private func read(_ piece: [UInt8]) {
    if multipart != nil {
      var messages: [MultipartSubscription.Message] = []
      try? multipart?.receive(piece, messages: &messages)
      for message in messages {
        switch message {
        case .heartbeat: note(.heartbeat)
        case .payload(let bytes): note(.result(Self.json(bytes)))
        case .failed(let bytes): note(.failed(Self.json(bytes)))
        case .completed: note(.completed)
        }
      }
    } else if events != nil, plainEvents != nil {
      if piece.starts(with: [UInt8(ascii: ":")]) { note(.heartbeat) }
      var found: [StreamEvent] = []
      try? plainEvents?.receive(piece, events: &found)
      for event in found { note(.event(event)) }
    } else if events != nil {
      if piece.starts(with: [UInt8(ascii: ":")]) { note(.heartbeat) }
      var messages: [EventStreamSubscription.Message] = []
      try? events?.receive(piece, messages: &messages)
      for message in messages {
        switch message {
        case .next(let bytes): note(.result(Self.json(bytes)))
        case .complete: note(.completed)
        }
      }
    } else {
      note(.result(Self.json(piece)))
    }
  }

  private static func json(_ bytes: [UInt8]) -> JSONValue { (try? JSONValue(parsing: bytes)) ?? .null }

  func drained() {}

  func closed(_ reason: ChannelCloseReason) {
    note(.closed)
    tell.finish()
  }
}
