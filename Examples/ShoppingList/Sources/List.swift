import Foundation
import MartletHTTP

/// The list at its server.
struct List {
  let client: GraphQLClient

  struct Item: Decodable, Sendable {
    var id: String
    var what: String
  }

  struct Open: Decodable, Sendable {
    struct Page: Decodable, Sendable { var items: [Item] }
    var listItems: Page
  }

  func add(_ what: String) async throws {
    try await client.mutate(
      "mutation Add($what: String!) { createItem(input: {what: $what, isBought: false}) { id } }",
      variables: ["what": .string(what)])
    say("\(what) is on the list.")
  }

  /// What is still to be bought.
  func open() async throws -> [Item] {
    let page = try await client.query(
      "query Open { listItems(filter: {isBought: {eq: false}}) { items { id what } } }", as: Open.self)
    return page.data?.listItems.items ?? []
  }

  func show() async throws {
    for item in try await open() { say(item.what) }
  }

  func buy(_ what: String) async throws {
    let wanted = try await open().filter { $0.what == what }
    for item in wanted {
      try await client.mutate(
        "mutation Buy($id: ID!) { updateItem(input: {id: $id, isBought: true}) { id } }",
        variables: ["id": .string(item.id)])
    }
    say(wanted.isEmpty ? "\(what) is not on the list." : "\(what) is bought.")
  }

  struct Added: Decodable, Sendable {
    var onCreateItem: Item
  }

  /// Prints what others add. The subscription is one HTTP response, which ends with its connection.
  func follow(_ count: Int) async throws {
    let items = client.subscribe("subscription { onCreateItem { id what } }", as: Added.self)
    try await items.ready()
    say("The list is followed.")
    var left = count
    for try await item in items {
      if let added = item.data?.onCreateItem { say(added.what) }
      left -= 1
      if left <= 0 { return }
    }
  }
}

/// Prints a line at once, also into a pipe, where `print` would wait for more.
func say(_ line: String) {
  FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}
