import Foundation
import MartletHTTPClient
import MartletJSON
import MartletLoop
import MartletRuntime

/// One small request to a server that a command failed to talk to, to find out why: whatever the protocol was, HTTP
/// says it the same way.
struct Probe: Sendable {
  /// What came of the request.
  enum Answer: Sendable, Equatable {
    /// A response with this status, and the server's words where it sent some.
    case response(status: Int, words: String?)
    case failed(HTTPExchangeError)
  }

  let headers: [(name: String, value: String)]
  /// Authorities in a PEM file; nil for the system's.
  var authorityFile: String?

  /// Long enough for a server that is busy, short beside a person's patience.
  private static let time = Duration.seconds(3)
  /// More than any refusal needs.
  private static let bodyBytes = 64 << 10

  /// Asks for the name of the root type, which every GraphQL server can answer.
  func post(_ url: String) async -> Answer {
    let loops: LoopGroup
    do {
      loops = try LoopGroup.start(count: 1)
    } catch {
      return .failed(HTTPExchangeError(.other, "\(error)"))
    }
    defer { loops.stop() }
    var request = HTTPExchangeRequest("POST", url: url)
    request.headers =
      [("Content-Type", "application/json"), ("Accept", "application/graphql-response+json, application/json")]
      + headers
    request.body = Array(#"{"query":"{ __typename }"}"#.utf8)
    request.totalTime = Self.time
    request.bodyBytes = Self.bodyBytes
    var options = CurlClient.Options()
    options.security.authorityFile = authorityFile
    let client = CurlClient(options: options)
    let loop = loops.loops[0]
    let sent = request
    return await withCheckedContinuation { continuation in
      loop.execute {
        let handler = Handler { continuation.resume(returning: $0) }
        handler.exchange = client.start(sent, on: loop, handler: handler)
      }
    }
  }

  /// Confined to its loop.
  private final class Handler: HTTPExchangeHandler {
    var exchange: HTTPExchange?
    private let completion: (Answer) -> Void
    private var status = 0
    private var body: [UInt8] = []

    init(_ completion: @escaping (Answer) -> Void) {
      self.completion = completion
    }

    func received(head: HTTPExchangeHead) { status = head.status }

    func received(body piece: borrowing RawSpan) {
      unsafe piece.withUnsafeBytes { unsafe body.append(contentsOf: $0) }
    }

    func ended(_ error: HTTPExchangeError?) {
      exchange = nil
      if let error, status == 0 { return completion(.failed(error)) }
      completion(.response(status: status, words: Self.words(body)))
    }

    /// The message of the first error of a GraphQL response, or a short text.
    private static func words(_ body: [UInt8]) -> String? {
      guard let json = try? JSONValue(parsing: body) else {
        let text = String(decoding: body.prefix(200), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty || text.contains("<") || text.contains("\n") ? nil : text
      }
      return json["errors"]?[0]?["message"]?.string ?? json["message"]?.string
    }
  }
}
