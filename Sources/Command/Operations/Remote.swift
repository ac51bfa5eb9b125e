import Foundation
import Martlet

/// A server as the commands see it: the library's client, with failures that have exit codes.
struct Remote: Sendable {
  let client: GraphQLClient

  static let authorityOption = CommandSpecification.Option(
    name: "cacert", value: "FILE",
    help: "trust the certificate authorities in this PEM file in place of the system's (default: $SSL_CERT_FILE)")

  /// - Parameters:
  ///   - authorityFile: what `--cacert` names.
  ///   - attempts: connection attempts in a row before giving up; nil goes on for ever.
  ///   - spoken: how subscriptions go; queries and mutations go by HTTP.
  ///   - persists: whether these name their documents by hash.
  init(
    url: String, headers: [(name: String, value: String)], attempts: Int?,
    subscribingBy spoken: SubscriptionProtocol = .transportWS, persists: Bool = false,
    trusting authorityFile: String? = nil
  ) throws {
    guard let parsed = URL(string: url) else { throw UsageError("'\(url)' is no URL.") }
    var configuration = ConnectionConfiguration()
    configuration.reconnect.attempts = attempts
    configuration.authorityFile = authorityFile
    if persists { configuration.persistedOperations = PersistedOperationPolicy() }
    // The URL may say http: all the same, a subscription of the command survives the network and resumes.
    configuration.subscriptionTransport = .socket
    var payload = JSONObject()
    for header in headers { payload[header.name] = .string(header.value) }
    let credentials = Credentials(headers: headers, payload: payload)
    if !headers.isEmpty { configuration.credentials = { _ in credentials } }
    client = GraphQLClient(networkTransport: try spoken.transport(parsed, configuration))
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
      throw Self.failure(error)
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
      throw Self.failure(error)
    }
  }

  /// The members of a response, as they came.
  static func object(_ response: GraphQLResponse<JSONValue>) -> JSONObject {
    var object: JSONObject = ["data": response.data ?? .null]
    if !response.errors.isEmpty { object["errors"] = .array(response.errors.map(\.json)) }
    if !response.extensions.isEmpty { object["extensions"] = .object(response.extensions) }
    return object
  }

  /// What to say and how to end after an error of the client.
  static func failure(_ error: any Error, of spoken: SubscriptionProtocol? = nil) -> CommandFailure {
    guard let error = error as? GraphQLClientError else { return CommandFailure(.failure, "\(error)") }
    if let advice = spoken?.advice(error) { return CommandFailure(.unavailable, "\(error.description)\n\(advice)") }
    if !error.errors.isEmpty {
      let lines = error.errors.map { error in
        let place = error["locations"]?[0].map { " (\($0["line"]?.int ?? 0):\($0["column"]?.int ?? 0))" } ?? ""
        return (error["message"]?.string ?? error.description) + place
      }
      return CommandFailure(.failure, lines.joined(separator: "\n"))
    }
    let text = error.description + (error.recoverySuggestion.map { "\n\($0)" } ?? "")
    switch error.code {
    case .invalidRequest: return CommandFailure(.usage, text)
    case .unauthorized: return CommandFailure(.denied, text)
    case .operationFailed, .decodingFailed: return CommandFailure(.failure, text)
    default: return CommandFailure(.unavailable, text)
    }
  }
}
