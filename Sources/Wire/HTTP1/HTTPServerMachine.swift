/// What a request brings, in order: one head, any number of body pieces, one end. A failure is always last.
package enum HTTPServerEvent: Equatable, Sendable {
  /// A head without fault. `expectsContinue`: the client waits for `sendContinue` before it sends the body.
  case request(HTTPRequestHead, expectsContinue: Bool)
  case body([UInt8])
  /// The request is complete. The next one is parsed once the response has ended.
  case requestEnded(trailers: HTTPHeaders)
  /// The bytes broke a rule: answer `failure.status` unless a response has begun, and close.
  case failed(HTTPFailure)
}

/// The server's end of an HTTP/1.1 connection (RFC 9112): one request at a time, strictly read.
///
/// The shell feeds bytes, answers through the response functions (each appends to `output`), and after every call
/// looks at `shouldClose` (close after flushing) and `wantsBytes` (pause reading while false).
package struct HTTPServerMachine {
  /// Where the request being read stands.
  private enum Reading {
    case startLine(skippedEmptyLine: Bool)
    case fields(method: String, target: String, minorVersion: Int, HTTPFieldReader)
    case body(HTTPBodyReader)
    /// Complete; waits for the response to end.
    case complete
    /// Failed, or given away by an upgrade.
    case stopped
  }

  /// Where the response being written stands.
  package enum Responding: Equatable, Sendable {
    /// No response has begun.
    case waiting
    /// A head has been sent, the body follows in pieces. Next: `waiting` of the next request.
    case streaming(chunked: Bool)
    /// The connection answers no more.
    case ended
  }

  package let limits: HTTPLimits
  package private(set) var responding = Responding.waiting
  /// Close the transport after flushing.
  package private(set) var shouldClose = false
  private var input = HTTPInput()
  private var reading = Reading.startLine(skippedEmptyLine: false)
  private var head: HTTPRequestHead?
  private var keepsAlive = false
  private var sentContinue = false
  /// Whether the peer sends nothing more. Requests that it has sent are answered all the same.
  private var hasEnded = false

  package init(limits: HTTPLimits = HTTPLimits()) {
    self.limits = limits
  }

  /// False while enough pipelined bytes wait for an earlier request's response.
  package var wantsBytes: Bool { input.count < limits.pipelinedBytes }

  /// Whether nothing of a request has arrived: the connection is idle and may be closed without harm.
  package var isIdle: Bool {
    if case .startLine = reading { return input.count == 0 }
    return false
  }

  /// Takes bytes as they arrived.
  package mutating func receive(_ bytes: borrowing RawSpan, events: inout [HTTPServerEvent]) {
    if case .stopped = reading { return }
    input.receive(bytes)
    advance(&events)
  }

  /// Takes bytes as they arrived, and leaves them to the next `advance`.
  package mutating func keep(_ bytes: borrowing RawSpan) {
    if case .stopped = reading { return }
    input.receive(bytes)
  }

  /// Whether bytes are buffered that no `advance` has read, or that wait for more.
  package var hasKept: Bool { input.count > 0 }

  /// Parses what is buffered; to be called after a response has ended, when pipelined requests may wait.
  package mutating func advance(_ events: inout [HTTPServerEvent]) {
    do throws(HTTPFailure) {
      while try step(&events) {}
    } catch {
      reading = .stopped
      keepsAlive = false
      events.append(.failed(error))
    }
    if hasEnded { settleEnd(&events) }
    input.compact()
  }

  /// The peer sends nothing more. Inside a request that is a failure; the response can still be sent, and those to
  /// requests that have arrived after it.
  package mutating func inputEnded(events: inout [HTTPServerEvent]) {
    hasEnded = true
    settleEnd(&events)
  }

  /// Everything that has arrived has been read as far as it can be now, and nothing more will come.
  private mutating func settleEnd(_ events: inout [HTTPServerEvent]) {
    switch reading {
    case .startLine, .fields, .body:
      keepsAlive = false
      if isIdle {
        shouldClose = true
      } else {
        events.append(.failed(HTTPFailure(.truncated)))
      }
      reading = .stopped
    case .complete: if input.count == 0 { keepsAlive = false }
    case .stopped: break
    }
  }

  /// After an upgrade was accepted: the bytes after the request, which belong to the new protocol.
  package mutating func takeUpgradedBytes() -> [UInt8] {
    reading = .stopped
    responding = .ended
    let rest = input.take(input.count)
    input.compact()
    return rest
  }

  // MARK: Reading

  /// Makes one step; false when more bytes or the end of a response are needed.
  private mutating func step(_ events: inout [HTTPServerEvent]) throws(HTTPFailure) -> Bool {
    switch reading {
    case .startLine(let skipped):
      guard let line = try input.line(limit: limits.startLineBytes, tooLong: .startLineTooLong) else { return false }
      if line.isEmpty, !skipped {
        // One empty line before a request is allowed for the sake of old clients (section 2.2).
        reading = .startLine(skippedEmptyLine: true)
        return true
      }
      reading = try Self.parseRequestLine(line)
      return true
    case .fields(let method, let target, let minorVersion, var reader):
      guard try reader.advance(&input, limits: limits) else {
        reading = .fields(method: method, target: target, minorVersion: minorVersion, reader)
        return false
      }
      let head = HTTPRequestHead(method: method, target: target, minorVersion: minorVersion, headers: reader.headers)
      try begin(head, &events)
      return true
    case .body(var reader):
      let result = try reader.advance(&input, limits: limits)
      reading = .body(reader)
      switch result {
      case .data(let piece): events.append(.body(piece))
      case .needMore: return false
      case .ended(let trailers):
        reading = .complete
        events.append(.requestEnded(trailers: trailers))
      }
      return true
    case .complete, .stopped:
      return false
    }
  }

  private mutating func begin(_ head: HTTPRequestHead, _ events: inout [HTTPServerEvent]) throws(HTTPFailure) {
    try Self.check(head)
    let framing = try HTTPFraming.ofRequest(head)
    if case .length(let length) = framing, length > limits.bodyBytes { throw HTTPFailure(.bodyTooLarge) }
    let expectations = head.headers.list("Expect")
    guard expectations.allSatisfy({ HTTPSyntax.equals($0, "100-continue") }) else { throw HTTPFailure(.expectation) }
    keepsAlive = head.headers.keepsConnection(minorVersion: head.minorVersion)
    self.head = head
    sentContinue = false
    let hasBody = framing != .length(0)
    events.append(.request(head, expectsContinue: hasBody && head.minorVersion == 1 && !expectations.isEmpty))
    reading = .body(HTTPBodyReader(framing))
  }

  /// `method SP target SP HTTP/1.x`, single spaces, nothing else.
  private static func parseRequestLine(_ line: ArraySlice<UInt8>) throws(HTTPFailure) -> Reading {
    guard let first = line.firstIndex(of: 0x20), let last = line.lastIndex(of: 0x20), first < last else {
      throw HTTPFailure(.startLine)
    }
    let (method, target, version) = (line[..<first], line[(first + 1)..<last], line[(last + 1)...])
    guard !target.contains(0x20), HTTPSyntax.isToken(method) else { throw HTTPFailure(.startLine) }
    guard HTTPTarget.isTarget(target) else { throw HTTPFailure(.target) }
    let minorVersion = try HTTPVersion.minor(version)
    return .fields(
      method: String(decoding: method, as: UTF8.self), target: String(decoding: target, as: UTF8.self),
      minorVersion: minorVersion, HTTPFieldReader())
  }

  private static func check(_ head: HTTPRequestHead) throws(HTTPFailure) {
    if head.headers.count(of: "Host") > 1 { throw HTTPFailure(.duplicateHost) }
    let host = head.headers.first("Host")
    if host == nil, head.minorVersion == 1 { throw HTTPFailure(.missingHost) }
    if let host, !HTTPTarget.isAuthority(host) { throw HTTPFailure(.malformedHost) }
    try HTTPTarget.check(head.target, method: head.method, host: host)
  }

  // MARK: Responding

  /// Sends `100 Continue` to a client that waits for it.
  package mutating func sendContinue(to output: inout [UInt8]) {
    guard responding == .waiting, !sentContinue, case .body = reading else { return }
    sentContinue = true
    output.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8)
  }

  /// Sends a whole response. Content-Length and Connection are set here; a body is left out where none is allowed.
  /// Call `advance` afterwards.
  ///
  /// - Parameter lines: Further header fields as they are sent, each with its line end: those that are the same in
  ///   many responses.
  package mutating func respond(
    _ response: HTTPResponseHead, lines: [UInt8] = [], body: [UInt8] = [], to output: inout [UInt8]
  ) {
    precondition(responding == .waiting, "one response per request")
    let method = head?.method ?? ""
    settleConnection()
    HTTPWriter.startResponse(response, closes: !keepsAlive, minorVersion: head?.minorVersion ?? 1, to: &output)
    output.append(contentsOf: lines)
    if !HTTPStatus.forbidsBody(response.status) {
      HTTPWriter.contentLength(body.count, to: &output)
    }
    HTTPWriter.endHead(to: &output)
    if !response.hasNoBody(answering: method) { output.append(contentsOf: body) }
    endResponse()
  }

  /// Starts a response whose length is not known: chunked towards HTTP/1.1, until close towards 1.0.
  package mutating func beginStreaming(
    _ response: HTTPResponseHead, lines: [UInt8] = [], to output: inout [UInt8]
  ) {
    precondition(responding == .waiting, "one response per request")
    precondition(!response.hasNoBody(answering: head?.method ?? ""), "a streamed response may have a body")
    let chunked = head?.minorVersion == 1
    if !chunked { keepsAlive = false }
    settleConnection()
    HTTPWriter.startResponse(response, closes: !keepsAlive, minorVersion: head?.minorVersion ?? 1, to: &output)
    output.append(contentsOf: lines)
    if chunked { output.append(contentsOf: "Transfer-Encoding: chunked\r\n".utf8) }
    HTTPWriter.endHead(to: &output)
    responding = .streaming(chunked: chunked)
  }

  /// Sends a piece of a streamed body.
  package mutating func stream(_ piece: [UInt8], to output: inout [UInt8]) {
    guard case .streaming(let chunked) = responding, !piece.isEmpty else { return }
    if chunked { HTTPWriter.chunk(piece, to: &output) } else { output.append(contentsOf: piece) }
  }

  /// Sends a piece that stands in three parts, which a fan-out need not join.
  package mutating func stream(prefix: [UInt8], payload: [UInt8], suffix: [UInt8], to output: inout [UInt8]) {
    guard case .streaming(let chunked) = responding else { return }
    let count = prefix.count + payload.count + suffix.count
    if count == 0 { return }
    if chunked { HTTPWriter.chunkStart(count, to: &output) }
    output.append(contentsOf: prefix)
    output.append(contentsOf: payload)
    output.append(contentsOf: suffix)
    if chunked { HTTPWriter.endHead(to: &output) }
  }

  /// Ends a streamed body. Call `advance` afterwards.
  package mutating func endStreaming(trailers: HTTPHeaders = HTTPHeaders(), to output: inout [UInt8]) {
    guard case .streaming(let chunked) = responding else { return }
    if chunked { HTTPWriter.lastChunk(trailers, to: &output) }
    endResponse()
  }

  /// Answers 101 and gives the connection away; the shell then takes `takeUpgradedBytes`.
  package mutating func upgrade(_ response: HTTPResponseHead, to output: inout [UInt8]) {
    precondition(response.status == 101 && responding == .waiting, "an upgrade answers 101, once")
    HTTPWriter.startResponse(response, closes: false, minorVersion: 1, to: &output)
    HTTPWriter.endHead(to: &output)
    responding = .ended
  }

  /// Makes the response under way, or the next one, the last.
  package mutating func closeAfterResponse() {
    keepsAlive = false
    if isIdle { shouldClose = true }
  }

  /// A response to a request whose body is still arriving ends the connection: skipping it could take for ever.
  private mutating func settleConnection() {
    guard case .complete = reading else {
      keepsAlive = false
      return
    }
  }

  private mutating func endResponse() {
    head = nil
    if keepsAlive {
      responding = .waiting
      reading = .startLine(skippedEmptyLine: false)
    } else {
      responding = .ended
      reading = .stopped
      shouldClose = true
    }
  }
}
