import Foundation
import Martlet

/// The guides' ways to use a client over HTTP.
enum ClientOverHTTP {
  struct Profile: GraphQLQuery {
    static let operationName = "Profile"
    static let operationDocument = "query Profile { hero { id ... @defer { friends { name } } } }"
    typealias Data = JSONValue
  }
  struct SetPicture: GraphQLMutation {
    static let operationName = "SetPicture"
    static let operationDocument = "mutation SetPicture($picture: Upload!) { setPicture(picture: $picture) }"
    typealias Data = JSONValue
  }
  struct Rename: GraphQLMutation, Codable {
    static let operationName = "Rename"
    static let operationDocument =
      "mutation Rename($id: ID!, $name: String!) { rename(id: $id, name: $name) { id name } }"
    typealias Data = JSONValue
    var id: String
    var name: String
  }

  static func make(_ url: URL) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configuration.persistedOperations = PersistedOperationPolicy(queriesByGET: true)
    let client = try GraphQLClient(url: url, configuration: configuration)
    return client
  }

  static func sharing(_ url: URL) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configuration.batching = BatchPolicy()
    return try GraphQLClient(url: url, configuration: configuration)
  }

  static func parts(_ client: GraphQLClient, show: (JSONValue?, Bool) -> Void) async throws {
    for try await profile in try client.fetchInParts(query: Profile()) {
      show(profile.data, profile.hasNext)
    }
  }

  static func partsOfOwnDocument(_ client: GraphQLClient, show: (JSONValue?, Bool) -> Void) async throws {
    for try await result in client.queryInParts("{ hero { id ... @defer { friends { name } } } }") {
      show(result.data, result.hasNext)
    }
  }

  static func upload(_ client: GraphQLClient, _ url: URL) async throws {
    let picture = try GraphQLFile(fieldName: "picture", mimeType: "image/png", fileURL: url)
    try await client.upload(operation: SetPicture(), files: [picture])
  }

  static func hope(_ client: GraphQLClient) async throws {
    try await client.performOptimistically(mutation: Rename(id: "1", name: "BB-8")) { store in
      try store.setFields(["name": "BB-8"], of: CacheKey("Hero:1"))
    }
  }
}
