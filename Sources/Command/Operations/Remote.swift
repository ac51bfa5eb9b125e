import Foundation
import Martlet
import MartletCommandLine

/// A server as the commands see it: the library's client, with failures that have exit codes.
struct Remote: Sendable {
  let client: GraphQLClient
  private let url: String
  private let headers: [(name: String, value: String)]
  private let trust: ServerTrust

  /// - Parameters:
  ///   - trust: what its connections trust and show.
  ///   - attempts: connection attempts in a row before giving up; nil never gives up.
  ///   - route: how subscriptions go; queries and mutations go by HTTP.
  ///   - persists: whether these name their documents by hash.
  init(
    url: String, headers: [(name: String, value: String)], attempts: Int?,
    subscribingBy route: SubscriptionRoute = .usual, persists: Bool = false,
    trusting trust: ServerTrust
  ) throws {
    self.url = url
    self.headers = headers
    self.trust = trust
    guard let parsed = URL(string: url) else { throw UsageError("'\(url)' is not a URL.") }
    var configuration = ConnectionConfiguration()
    configuration.reconnect.attempts = attempts
    trust.apply(to: &configuration)
    if persists { configuration.persistedOperations = PersistedOperationPolicy() }
    // The URL may say http: all the same, a subscription of the command survives the network and resumes.
    configuration.subscriptionTransport = .socket
    var payload = JSONObject()
    for header in headers { payload[header.name] = .string(header.value) }
    let credentials = Credentials(headers: headers, payload: payload)
    if !headers.isEmpty { configuration.credentials = { _ in credentials } }
    do {
      client = GraphQLClient(networkTransport: try route.transport(parsed, configuration))
    } catch let error as GraphQLClientError {
      // Of what is configured, certificates alone are read from a file.
      throw CommandFailure(.badData, error.message + ".")
    }
  }

  /// The whole response as an object.
  func perform(_ input: OperationInput, isMutation: Bool) async throws(CommandFailure) -> JSONObject {
    guard input.files.isEmpty else { return try await upload(input, isMutation: isMutation) }
    return try await perform(
      input.document, variables: input.variables, operationName: input.operationName, isMutation: isMutation)
  }

  private func upload(_ input: OperationInput, isMutation: Bool) async throws(CommandFailure) -> JSONObject {
    guard let transport = client.networkTransport as? any UploadingNetworkTransport else {
      throw CommandFailure(.failure, "This way to the server takes no files.")
    }
    let request = OperationRequest(
      isMutation ? .mutation : .query, document: input.document, operationName: input.operationName,
      variables: input.variablesWithRoomForFiles)
    do {
      let response = try await transport.upload(request, files: input.files).value
      return response.object ?? ["data": response]
    } catch {
      throw await explain(error)
    }
  }

  func perform(
    _ document: String, variables: JSONObject, operationName: String? = nil, isMutation: Bool
  ) async throws(CommandFailure) -> JSONObject {
    do {
      let response: GraphQLResponse<JSONValue> =
        isMutation
        ? try await client.mutate(document, variables: variables, operationName: operationName)
        : try await client.query(document, variables: variables, operationName: operationName)
      return Self.object(response)
    } catch {
      throw await explain(error)
    }
  }

  /// The same, but a request that the server refuses with GraphQL errors is a response with these errors: the caller
  /// decides by their codes.
  func respond(
    _ document: String, variables: JSONObject, isMutation: Bool
  ) async throws(CommandFailure) -> JSONObject {
    do {
      let response: GraphQLResponse<JSONValue> =
        isMutation
        ? try await client.mutate(document, variables: variables)
        : try await client.query(document, variables: variables)
      return Self.object(response)
    } catch {
      // A caller that is refused is not a write that was refused.
      if let error = error as? GraphQLClientError, error.code != .unauthorized, error.status != 403,
        !error.errors.isEmpty
      {
        return ["data": .null, "errors": .array(error.errors)]
      }
      throw await explain(error)
    }
  }

  /// The members of a response, as they came.
  static func object(_ response: GraphQLResponse<JSONValue>) -> JSONObject {
    var object: JSONObject = ["data": response.data ?? .null]
    if !response.errors.isEmpty { object["errors"] = .array(response.errors.map(\.json)) }
    if !response.extensions.isEmpty { object["extensions"] = .object(response.extensions) }
    return object
  }

  /// What to say and how to end after an error of the client. Where the error leaves open why the server could not be
  /// used, the server is asked once more, by HTTP: the same cause has the same sentence and exit code over every
  /// protocol.
  func explain(_ error: any Error, of route: SubscriptionRoute? = nil) async -> CommandFailure {
    guard let error = error as? GraphQLClientError else { return CommandFailure(.failure, "\(error)") }
    // A mistake in the document has a place; the server has read it.
    let isOfDocument = error.errors.contains { $0["locations"] != nil }
    if !isOfDocument, Self.isUnclear(error.code) {
      let found = await diagnosis()
      if found.explains(error), let failure = failure(found) {
        guard case .notGraphQL = found, let advice = route?.advice(error) else { return failure }
        return CommandFailure(failure.code, "\(failure.message)\n\(advice)")
      }
    }
    return Self.failure(error, of: route)
  }

  private static func isUnclear(_ code: GraphQLClientError.Code) -> Bool {
    [
      .connectFailed, .connectionLost, .connectionClosed, .outcomeUnknown, .unauthorized, .httpStatus,
      .operationFailed, .protocolMismatch, .invalidResponse, .timeout,
    ].contains(code)
  }

  func failure(_ found: Diagnosis) -> CommandFailure? { found.failure(url: url) }

  /// Why the server cannot be used, as one more request by HTTP finds out.
  func diagnosis() async -> Diagnosis {
    guard var parts = URLComponents(string: url) else { return .answers(status: 0) }
    let isSecure = ["https", "wss"].contains(parts.scheme?.lowercased())
    parts.scheme = isSecure ? "https" : "http"
    let asked = parts.string ?? url
    let answer = await Probe(headers: headers, trust: trust).post(asked)
    return await Diagnosis.of(answer, url: asked, headers: headers, trust: trust)
  }

  private static func failure(_ error: GraphQLClientError, of route: SubscriptionRoute?) -> CommandFailure {
    if let advice = route?.advice(error) { return CommandFailure(.unavailable, "\(sentence(error))\n\(advice)") }
    if error.code == .unauthorized {
      return CommandFailure(.denied, "The server refuses the credentials: \(error.message)")
    }
    if !error.errors.isEmpty { return CommandFailure(.failure, lines(error.errors)) }
    let text = sentence(error) + (advice(error.code).map { "\n\($0)" } ?? "")
    switch error.code {
    case .invalidRequest: return CommandFailure(.usage, text)
    case .operationFailed, .decodingFailed: return CommandFailure(.failure, text)
    default: return CommandFailure(.unavailable, text)
    }
  }

  /// What GraphQL errors say, with their places in the document.
  static func lines(_ errors: [JSONValue]) -> String {
    errors.map { error in
      let place = error["locations"]?[0].map { " (\($0["line"]?.int ?? 0):\($0["column"]?.int ?? 0))" } ?? ""
      return (error["message"]?.string ?? error.description) + place
    }.joined(separator: "\n")
  }

  /// The message as a sentence, with close code and status; the code's name is for programs, and causes below are in
  /// the message already.
  static func sentence(_ error: GraphQLClientError) -> String {
    var text = error.message
    let first = text.prefix { $0 != " " }
    // An address keeps its form.
    if !first.contains("://") { text = first.prefix(1).uppercased() + text.dropFirst() }
    if let closeCode = error.closeCode { text += " (close code \(closeCode))" }
    if let status = error.status, !text.contains("\(status)") { text += " (HTTP status \(status))" }
    return text.hasSuffix(".") ? text : text + "."
  }

  /// What a person at a shell can do about it.
  private static func advice(_ code: GraphQLClientError.Code) -> String? {
    if code == .outcomeUnknown {
      "The mutation may have been executed: read the data before you send it again."
    } else if code == .connectionLost || code == .timeout {
      "Run the command again."
    } else {
      nil
    }
  }
}
