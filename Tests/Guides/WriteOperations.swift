import Martlet

/// An operation as `martlet generate` writes it: a struct whose stored properties are the variables.
struct TodosWith: GraphQLQuery, Codable {
  static let operationName = "TodosWith"
  static let operationDocument =
    "query TodosWith($text: String) { listTodos(filter: {text: {contains: $text}}) { items { id text } } }"

  var text: GraphQLNullable<String> = .none

  struct Data: Codable, Sendable {
    struct Page: Codable, Sendable {
      struct Todo: Codable, Sendable {
        let id: String
        let text: String
      }
      let items: [Todo]
    }
    let listTodos: Page
  }
}

enum WriteOperations {
  static func ids(_ client: GraphQLClient, with text: String) async throws -> [String] {
    let response = try await client.fetch(query: TodosWith(text: .some(text)))
    return response.data?.listTodos.items.map(\.id) ?? []
  }
}
