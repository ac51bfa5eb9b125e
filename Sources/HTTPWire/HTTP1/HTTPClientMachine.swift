/// What a response brings, in order: informational heads, one head, body pieces, one end. A failure is always last.
package enum HTTPClientEvent: Equatable, Sendable {
  /// A 1xx response other than 101; the real one follows.
  case informational(HTTPResponseHead)
  case response(HTTPResponseHead)
  case body([UInt8])
  /// The response is complete. `isReusable`: the connection may carry another request.
  case responseEnded(trailers: HTTPHeaders, isReusable: Bool)
  /// 101: the connection now speaks the other protocol; its first bytes are in `takeUpgradedBytes`.
  case upgraded(HTTPResponseHead)
  case failed(HTTPFailure)
}

/// The client's end of an HTTP/1.1 connection: one request at a time, strictly read.
package struct HTTPClientMachine {
  /// Where the exchange stands.
  private enum Reading {
    /// No request is open. Next: `startLine`.
    case idle
    case startLine
    case fields(status: Int, reason: String, minorVersion: Int, HTTPFieldReader)
    case body(HTTPBodyReader)
    case stopped
  }

  package let limits: HTTPLimits
  private var input = HTTPInput()
  private var reading = Reading.idle
  private var method = ""
  private var isReusable = true

  package init(limits: HTTPLimits = HTTPLimits()) {
    self.limits = limits
  }

  /// Whether a request may be sent.
  package var isIdle: Bool {
    if case .idle = reading { return isReusable }
    return false
  }

  /// Sends a request. Only when `isIdle`.
  package mutating func send(_ head: HTTPRequestHead, body: [UInt8]? = nil, to output: inout [UInt8]) {
    precondition(isIdle, "one request at a time")
    method = head.method
    reading = .startLine
    HTTPWriter.request(head, body: body, to: &output)
    if head.headers.lists("close", in: "Connection") { isReusable = false }
  }

  /// Sends a request's head; the caller then sends the body, exactly so many bytes. Only when `isIdle`.
  package mutating func send(_ head: HTTPRequestHead, bodyLength: Int, to output: inout [UInt8]) {
    precondition(isIdle, "one request at a time")
    method = head.method
    reading = .startLine
    HTTPWriter.request(head, bodyLength: bodyLength, to: &output)
    if head.headers.lists("close", in: "Connection") { isReusable = false }
  }

  /// Takes bytes as they arrived.
  package mutating func receive(_ bytes: borrowing RawSpan, events: inout [HTTPClientEvent]) {
    if case .stopped = reading { return }
    input.receive(bytes)
    do throws(HTTPFailure) {
      while try step(&events) {}
      if case .idle = reading, input.count > 0 { throw HTTPFailure(.unexpectedBytes) }
    } catch {
      stop(error, &events)
    }
    if case .stopped = reading {} else { input.compact() }
  }

  /// The connection ended. It completes a body without a length and fails anything else that is open.
  package mutating func inputEnded(events: inout [HTTPClientEvent]) {
    isReusable = false
    switch reading {
    case .idle, .stopped: reading = .stopped
    case .body(let reader) where reader.endsWithConnection:
      reading = .stopped
      events.append(.responseEnded(trailers: HTTPHeaders(), isReusable: false))
    case .startLine, .fields, .body: stop(HTTPFailure(.truncated), &events)
    }
  }

  /// After `.upgraded`: the bytes that followed the response.
  package mutating func takeUpgradedBytes() -> [UInt8] {
    input.take(input.count)
  }

  private mutating func stop(_ failure: HTTPFailure, _ events: inout [HTTPClientEvent]) {
    reading = .stopped
    isReusable = false
    events.append(.failed(failure))
  }

  private mutating func step(_ events: inout [HTTPClientEvent]) throws(HTTPFailure) -> Bool {
    switch reading {
    case .idle, .stopped: return false
    case .startLine:
      guard let line = try input.line(limit: limits.startLineBytes, tooLong: .startLineTooLong) else { return false }
      reading = try Self.parseStatusLine(line)
      return true
    case .fields(let status, let reason, let minorVersion, var reader):
      guard try reader.advance(&input, limits: limits) else {
        reading = .fields(status: status, reason: reason, minorVersion: minorVersion, reader)
        return false
      }
      try begin(
        HTTPResponseHead(status: status, reason: reason, minorVersion: minorVersion, headers: reader.headers), &events)
      return true
    case .body(var reader):
      let result = try reader.advance(&input, limits: limits)
      reading = .body(reader)
      switch result {
      case .data(let piece): events.append(.body(piece))
      case .needMore: return false
      case .ended(let trailers):
        reading = isReusable ? .idle : .stopped
        events.append(.responseEnded(trailers: trailers, isReusable: isReusable))
      }
      return true
    }
  }

  private mutating func begin(_ head: HTTPResponseHead, _ events: inout [HTTPClientEvent]) throws(HTTPFailure) {
    if head.status == 101 {
      reading = .stopped
      isReusable = false
      events.append(.upgraded(head))
      return
    }
    if head.status < 200 {
      reading = .startLine
      events.append(.informational(head))
      return
    }
    let framing = try HTTPFraming.ofResponse(head, to: method)
    if !head.headers.keepsConnection(minorVersion: head.minorVersion) || framing == .untilClose { isReusable = false }
    if case .length(let length) = framing, length > limits.bodyBytes { throw HTTPFailure(.bodyTooLarge) }
    events.append(.response(head))
    reading = .body(HTTPBodyReader(framing))
  }

  /// `HTTP/1.x SP 3DIGIT [SP reason]`.
  private static func parseStatusLine(_ line: ArraySlice<UInt8>) throws(HTTPFailure) -> Reading {
    let parts = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[1].count == 3, let status = HTTPSyntax.decimal(parts[1]), (100...599).contains(status)
    else { throw HTTPFailure(.startLine) }
    let minorVersion = try HTTPVersion.minor(parts[0])
    let reason = parts.count == 3 ? parts[2] : []
    guard HTTPSyntax.isFieldValue(reason) else { throw HTTPFailure(.startLine) }
    return .fields(
      status: status, reason: String(decoding: reason, as: UTF8.self), minorVersion: minorVersion, HTTPFieldReader())
  }
}
