import Foundation
import Martlet

/// Asks two servers the same queries: the running one, and the new program on a duplicate of its data.
struct CompareServers: Sendable {
  let running: GraphQLClient
  let new: GraphQLClient

  init(running: URL, new: URL) throws {
    self.running = try GraphQLClient(url: running)
    self.new = try GraphQLClient(url: new)
  }

  struct Difference: Sendable {
    let query: String
    let before: String
    let after: String
  }

  /// The queries whose answers are not the same. Writes between the copy and the comparison are differences too.
  func differences(_ queries: [String]) async throws -> [Difference] {
    var found: [Difference] = []
    for query in queries {
      let (before, after) = (try await Self.answer(running, query), try await Self.answer(new, query))
      if before != after { found.append(Difference(query: query, before: before, after: after)) }
    }
    return found
  }

  /// The data, or what the server says in its place: a field that is gone is an answer, no server is an error.
  private static func answer(_ client: GraphQLClient, _ query: String) async throws -> String {
    do {
      let response = try await client.query(query)
      return response.errors.first?.message ?? response.data.map { "\($0)" } ?? "null"
    } catch let error as GraphQLClientError where error.code == .operationFailed {
      return error.message
    }
  }
}
