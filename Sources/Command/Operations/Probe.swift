import Foundation
import MartletJSON
import MartletRuntime

/// One small request to a server that a command failed to talk to, to find out why: whatever the protocol was, HTTP
/// says it the same way.
struct Probe: Sendable {
  /// What came of the request.
  enum Answer: Sendable, Equatable {
    /// A response with this status, and the server's words where it sent some; whether it has the members of a GraphQL
    /// response.
    case response(status: Int, words: String?, isGraphQL: Bool = true)
    case failed(HTTPExchangeError)
  }

  let headers: [(name: String, value: String)]
  /// What its connection trusts and shows.
  var trust = ServerTrust()

  /// Long enough for a server that is busy, short beside a person's patience.
  private static let time = Duration.seconds(3)
  /// More than any refusal needs.
  private static let bodyBytes = 64 << 10

  /// Asks for the name of the root type, which every GraphQL server can answer.
  func post(_ url: String) async -> Answer {
    var request = HTTPExchangeRequest("POST", url: url)
    request.headers =
      [("Content-Type", "application/json"), ("Accept", "application/graphql-response+json, application/json")]
      + headers
    request.body = Array(#"{"query":"{ __typename }"}"#.utf8)
    request.totalTime = Self.time
    request.bodyBytes = Self.bodyBytes
    let outcome = await PlainExchange(trust: trust).send(request)
    if let error = outcome.error, outcome.status == 0 { return .failed(error) }
    let json = try? JSONValue(parsing: outcome.body)
    return .response(
      status: outcome.status, words: Self.words(outcome.body), isGraphQL: json?["data"] != nil || json?["errors"] != nil
    )
  }

  /// The message of the first error of a GraphQL response, or a short text.
  static func words(_ body: [UInt8]) -> String? {
    guard let json = try? JSONValue(parsing: body) else {
      let text = String(decoding: body.prefix(200), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      return text.isEmpty || text.contains("<") || text.contains("\n") ? nil : text
    }
    return json["errors"]?[0]?["message"]?.string ?? json["message"]?.string
  }
}
