import Foundation
import MartletHTTP

/// Queries named by their hash, several in one request, and a file that is read while it is sent.
enum SendByHTTP {
  struct SetPicture: GraphQLMutation {
    static let operationName = "SetPicture"
    static let operationDocument = "mutation SetPicture($picture: Upload!) { setPicture(picture: $picture) }"
    typealias Data = JSONValue
  }

  static func client(_ url: URL) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configuration.persistedOperations = PersistedOperationPolicy(queriesByGET: true)
    configuration.batching = BatchPolicy(operations: 10, wait: .milliseconds(5))
    return try GraphQLClient(url: url, configuration: configuration)
  }

  static func send(_ picture: URL, by client: GraphQLClient) async throws -> String? {
    let file = try GraphQLFile(fieldName: "picture", mimeType: "image/png", fileURL: picture)
    let response = try await client.upload(operation: SetPicture(), files: [file])
    return response.data?["setPicture"]?.string
  }
}
