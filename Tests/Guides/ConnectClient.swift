import Foundation
import Martlet

/// A client with a key, a query and its answer.
struct TodoReader: Sendable {
  struct Answer: Decodable, Sendable {
    struct Page: Decodable, Sendable {
      struct Todo: Decodable, Sendable {
        let id: String
        let text: String
      }
      let items: [Todo]
    }
    let listTodos: Page?
  }

  let client: GraphQLClient

  init(_ url: URL, key: String? = nil) throws {
    var configuration = ConnectionConfiguration()
    if let key { configuration.headers = [(name: "x-api-key", value: key)] }
    client = try GraphQLClient(url: url, configuration: configuration)
  }

  func texts() async throws -> [String] {
    let response = try await client.query("{ listTodos { items { id text } } }", as: Answer.self)
    for error in response.errors { print(error.message) }
    return response.data?.listTodos?.items.map(\.text) ?? []
  }
}
