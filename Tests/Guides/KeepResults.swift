import Foundation
import Martlet
import MartletSQLiteStore

/// A client whose results survive the end of the program, and a list that grows before the server has answered.
struct TodoList: Sendable {
  struct Todos: GraphQLQuery {
    static let operationName = "Todos"
    static let operationDocument = "query Todos { listTodos { items { id text } } }"

    struct Data: Codable, Sendable {
      struct Page: Codable, Sendable {
        struct Todo: Codable, Sendable {
          var id: String
          var text: String
        }
        var items: [Todo]
      }
      var listTodos: Page
    }
  }

  let client: GraphQLClient

  /// - Parameters:
  ///   - file: the path of the store's file.
  ///   - schema: the server's schema, by which the store knows types and key fields; a part of it is enough.
  init(_ url: URL, file: String, schema: String) throws {
    var configuration = GraphQLStoreConfiguration()
    configuration.schema = schema
    let store = GraphQLStore(cache: try SQLiteNormalizedCache(file: file), configuration: configuration)
    client = try GraphQLClient(url: url, store: store)
  }

  /// Shows what the store has, then what the server has, then every change.
  func watch(_ show: @Sendable ([String]) -> Void) async throws {
    for try await result in try client.watch(query: Todos(), cachePolicy: .cacheAndNetwork) {
      show(result.data?.listTodos.items.map(\.text) ?? [])
    }
  }

  /// Adds a todo to the list in the store.
  func append(id: String, text: String) async throws {
    try await client.store.withinReadWriteTransaction { transaction in
      try transaction.update(Todos()) { data in
        data.listTodos.items.append(Todos.Data.Page.Todo(id: id, text: text))
      }
    }
  }
}
