import Foundation
import Martlet
import MartletCommandLine
import MartletRuntime

/// Why a command could not use a server, as one sentence and one exit code for each cause, whatever the protocol.
enum Diagnosis: Equatable {
  case unreachable(reason: String)
  /// The URL says http, the server speaks TLS.
  case speaksTLS
  /// The URL says https, the server does not speak TLS.
  case speaksPlain
  case certificate(reason: String)
  case keyNeeded
  case keyUnknown
  /// The server refuses the `Host` or `Origin`, or the caller for another reason; its words.
  case refused(words: String)
  case unknownPath(words: String?)
  /// What answers is a server that has failed, or a proxy in its place.
  case notReady(status: Int)
  /// The server answers a plain query, with something that is not a GraphQL response.
  case notGraphQL(status: Int)
  /// The server answers a plain query: the cause lies in what was asked or in the protocol.
  case answers(status: Int)

  /// - Parameters:
  ///   - answer: what a query to the URL came to.
  ///   - other: what it came to with TLS where the URL has none, and without where it has; asked for when it matters.
  static func of(
    _ answer: Probe.Answer, hasHeaders: Bool, isSecure: Bool, url: String, other: () async -> Probe.Answer
  ) async -> Diagnosis {
    switch answer {
    case .response(401, _, _): return hasHeaders ? .keyUnknown : .keyNeeded
    case .response(403, let words, _): return .refused(words: words ?? "HTTP status 403")
    case .response(404, let words, _): return .unknownPath(words: words)
    case .response(let status, _, let isGraphQL):
      // A TLS server that answers a plain request says so with a response of its own.
      if status == 400, !isSecure, case .response = await other() { return .speaksTLS }
      if isGraphQL { return .answers(status: status) }
      return [500, 502, 503, 504].contains(status) ? .notReady(status: status) : .notGraphQL(status: status)
    case .failed(let error):
      switch error.code {
      case .tls:
        if case .response = await other() { return .speaksPlain }
        return .certificate(reason: cause(error, url))
      case .response where !isSecure:
        switch await other() {
        case .response: return .speaksTLS
        case .failed(let second): return isAnswer(second) ? .speaksTLS : .unreachable(reason: cause(error, url))
        }
      case .response, .invalidRequest, .resolution, .connect, .timeout, .bodyTooLarge, .overflow, .other:
        return .unreachable(reason: cause(error, url))
      }
    }
  }

  /// Whether a server that speaks TLS was there: one that ends every connection says nothing about TLS.
  private static func isAnswer(_ error: HTTPExchangeError) -> Bool {
    error.code == .tls
      && !["Connection reset", "unexpected eof", "SSL_ERROR_SYSCALL"].contains { error.message.contains($0) }
  }

  /// Whether the same call may succeed later: a server starts, a key is added.
  var mayPass: Bool {
    switch self {
    case .speaksTLS, .speaksPlain, .certificate: false
    case .unreachable, .keyNeeded, .keyUnknown, .refused, .unknownPath, .notReady, .notGraphQL, .answers: true
    }
  }

  /// The same for a command's own request, which is asked for again with or without TLS when that matters.
  static func of(
    _ answer: Probe.Answer, url: String, headers: [(name: String, value: String)], trust: ServerTrust
  ) async -> Diagnosis {
    guard var parts = URLComponents(string: url) else { return .answers(status: 0) }
    let isSecure = ["https", "wss"].contains(parts.scheme?.lowercased())
    parts.scheme = isSecure ? "http" : "https"
    let second = parts.string ?? url
    let probe = Probe(headers: headers, trust: trust)
    let hasKey = headers.contains { !["origin", "host"].contains($0.name.lowercased()) }
    return await of(answer, hasHeaders: hasKey, isSecure: isSecure, url: url, other: { await probe.post(second) })
  }

  /// The last cause in the words of the system, without what was tried: a method and the URL.
  private static func cause(_ error: HTTPExchangeError, _ url: String) -> String {
    guard let tried = error.message.range(of: " \(url): "), !error.message[..<tried.lowerBound].contains(" ") else {
      return error.message
    }
    return String(error.message[tried.upperBound...])
  }

  /// Whether it is the cause of the error, and no other thing that is also wrong.
  func explains(_ error: GraphQLClientError) -> Bool {
    switch self {
    case .speaksTLS, .speaksPlain: true
    // The mutation may have been executed before the server went away.
    case .unreachable: ![.outcomeUnknown, .operationFailed, .connectionClosed].contains(error.code)
    case .certificate, .keyNeeded, .keyUnknown, .refused: error.code != .outcomeUnknown
    case .unknownPath: error.status == 404 || [.httpStatus, .protocolMismatch].contains(error.code)
    case .notReady: [.httpStatus, .connectFailed].contains(error.code)
    case .notGraphQL: [.httpStatus, .invalidResponse, .protocolMismatch].contains(error.code)
    case .answers: false
    }
  }

  /// The server of a URL as a person calls it: its name and port.
  static func place(_ url: String) -> String {
    let place = URLComponents(string: url).flatMap { parts in
      parts.host.map { host in parts.port.map { "\(host):\($0)" } ?? host }
    }
    return place ?? url
  }

  /// The sentence and the exit code; nil where the server answers, so that the failure itself has to say it.
  func failure(url: String) -> CommandFailure? {
    let server = Self.place(url)
    switch self {
    case .unreachable(let reason): return CommandFailure(.unavailable, "No server answers at \(server): \(reason).")
    case .speaksTLS:
      return CommandFailure(.unavailable, "The server at \(server) speaks TLS: write https:// before its name.")
    case .speaksPlain:
      return CommandFailure(.unavailable, "The server at \(server) does not speak TLS: write http:// before its name.")
    case .certificate(let reason):
      return CommandFailure(.unavailable, "The certificate of \(server) is not accepted: \(reason).")
    case .keyNeeded:
      return CommandFailure(
        .denied, "A key is needed: --header x-api-key:KEY. The server refuses requests without one.")
    case .keyUnknown:
      return CommandFailure(.denied, "This key is not known to the server, or is no longer.")
    case .refused(let words): return CommandFailure(.denied, "The server refuses the request: \(words)")
    case .unknownPath(let words):
      let path = URLComponents(string: url)?.path ?? ""
      return CommandFailure(
        .unavailable, "The server serves nothing at \(path)." + (words.map { "\n\($0)" } ?? ""))
    case .notReady(let status):
      return CommandFailure(
        .unavailable,
        "The server at \(server) is not ready, or a proxy has no connection to it (HTTP status \(status)).")
    case .notGraphQL(let status):
      return CommandFailure(
        .unavailable, "No GraphQL is served at \(url): the answer is not a GraphQL response (HTTP status \(status)).")
    case .answers: return nil
    }
  }
}
