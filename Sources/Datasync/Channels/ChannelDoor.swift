internal import Martlet
internal import MartletJSON
internal import MartletRuntime

/// Requests to the server's `/channels`: webhooks and push, which are subscribed by HTTP. From any task.
struct ChannelDoor: Sendable {
  private let namespace: String?
  private let credentials: CredentialProvider?
  private let headers: [(name: String, value: String)]
  private let endpoint: GraphQLEndpoint
  private let environment: ClientEnvironment
  /// Bytes of one answer: a list of a thousand subscriptions.
  private static let answerBytes = 16 << 20
  /// Time for one request: the server answers when a subscription is durable.
  private static let time = Duration.seconds(30)

  init(_ configuration: DatasyncConfiguration, _ endpoint: GraphQLEndpoint, _ environment: ClientEnvironment) {
    namespace = configuration.namespace
    credentials = configuration.connection.credentials
    headers = configuration.connection.headers
    self.endpoint = endpoint
    self.environment = environment
  }

  /// Sends a request, once more with other credentials where the first ones are refused.
  ///
  /// - Parameter path: After `/channels`.
  func send(_ method: String, _ path: String, _ body: JSONObject?) async throws(DatasyncError) -> JSONValue {
    guard namespace == nil else {
      throw DatasyncError(.invalid, "webhooks and push are about the server's default namespace")
    }
    var answer = try await exchange(method, path, body, .request)
    if answer.status == 401, credentials != nil {
      answer = try await exchange(method, path, body, .refused(code: 401))
    }
    guard (200..<300).contains(answer.status) else { throw Self.error(answer) }
    guard let json = try? JSONValue(parsing: answer.body) else {
      throw DatasyncError(.refused, "the server's answer is not JSON")
    }
    return json
  }

  private static func error(_ answer: Answer) -> DatasyncError {
    let code: DatasyncError.Code =
      switch answer.status {
      case 400, 413: .invalid
      case 401, 403: .denied
      case 500...: .unavailable
      default: .refused
      }
    return DatasyncError(code, answer.message)
  }

  /// A whole answer.
  private struct Answer: Sendable {
    var status: Int
    var body: [UInt8]
    var message: String
  }

  private func exchange(
    _ method: String, _ path: String, _ body: JSONObject?, _ reason: CredentialReason
  ) async throws(DatasyncError) -> Answer {
    guard let http = environment.http else {
      throw DatasyncError(.unavailable, "this program has no network for requests")
    }
    var target = endpoint
    target.target = "/channels" + path
    var request = HTTPExchangeRequest(method, url: target.httpURL)
    request.headers = headers + (try await shown(reason))
    if let body {
      request.headers.append((name: "Content-Type", value: "application/json"))
      request.body = JSONValue.object(body).serialized()
    }
    request.totalTime = Self.time
    request.bodyBytes = Self.answerBytes
    let (whole, loop) = (request, environment.loop)
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Answer, DatasyncError>, Never>) in
      loop.execute {
        let held = Held()
        held.exchange = WholeExchange(whole, http, on: loop) { result in
          held.exchange = nil
          done.resume(
            returning: result.map { Answer(status: $0.status, body: $0.body, message: $0.message) }
              .mapError { DatasyncError(.unavailable, "the server cannot be reached: \($0.message)") })
        }
      }
    }
    return try result.get()
  }

  /// Keeps an exchange until it has ended. Confined to its loop.
  private final class Held {
    var exchange: WholeExchange?
  }

  /// The field that shows the caller's credentials, as the connection shows them.
  private func shown(_ reason: CredentialReason) async throws(DatasyncError) -> [(name: String, value: String)] {
    guard let credentials else { return [] }
    do {
      let given = try await credentials(reason)
      if !given.headers.isEmpty { return given.headers }
      guard let field = given.payload["Authorization"]?.string else { return [] }
      return [(name: "Authorization", value: field)]
    } catch {
      throw DatasyncError(.unavailable, "there are no credentials: \(error)")
    }
  }
}
