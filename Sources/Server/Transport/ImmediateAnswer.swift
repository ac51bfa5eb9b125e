internal import MartletAccess
internal import MartletJSON
internal import MartletWire

/// A whole answer that stands before an endpoint has seen the request, or that an endpoint refuses one with.
struct ImmediateAnswer {
  /// How the answer is counted and logged.
  enum Note {
    case none
    /// The peer broke a rule or a limit of the protocol.
    case violation
    /// The credentials were not accepted; text and reason are logged, once for each connection and status.
    case credentials(StaticString, reason: String? = nil)
  }

  let status: Int
  var headers: HTTPHeaders
  let body: [UInt8]
  var note: Note
  /// What is logged of a violation.
  let reason: String

  /// A list of one error, as JSON.
  static func error(_ status: Int, _ message: String, _ code: String, note: Note = .none) -> ImmediateAnswer {
    var headers = HTTPHeaders([("Content-Type", "application/json; charset=utf-8")])
    if status == 401 { headers.append("WWW-Authenticate", "Bearer") }
    if status == 503 { headers.append("Retry-After", "1") }
    let error: JSONValue = ["errors": [["message": .string(message), "extensions": ["code": .string(code)]]]]
    return ImmediateAnswer(status: status, headers: headers, body: error.serialized(), note: note, reason: message)
  }

  /// The caller has used what it may use, and when it may come back.
  static func limited(_ refusal: QuotaRefusal) -> ImmediateAnswer {
    var headers = HTTPHeaders([("Content-Type", "application/json; charset=utf-8")])
    if let pause = refusal.retryAfterField { headers.append("Retry-After", pause) }
    let error: JSONValue = [
      "errors": [["message": .string(refusal.message), "extensions": .object(refusal.extensions)]]
    ]
    return ImmediateAnswer(status: 429, headers: headers, body: error.serialized(), note: .none, reason: refusal.limit)
  }

  /// A line of text.
  static func text(
    _ status: Int, _ message: String, headers: [(String, String)] = [], note: Note = .none
  ) -> ImmediateAnswer {
    ImmediateAnswer(
      status: status, headers: HTTPHeaders([("Content-Type", "text/plain; charset=utf-8")] + headers),
      body: Array("\(message)\n".utf8), note: note, reason: message)
  }

  /// The server is being stopped.
  static var draining: ImmediateAnswer {
    ImmediateAnswer(status: 503, headers: HTTPHeaders(), body: [], note: .none, reason: "The server is being stopped.")
  }
}
