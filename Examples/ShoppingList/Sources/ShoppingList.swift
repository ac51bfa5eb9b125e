import Foundation
import MartletHTTP

/// A shopping list that a household shares, kept by any GraphQL server with the schema beside this file.
///
/// It speaks nothing but HTTP, and so it imports `MartletHTTP`: the program links libcurl, and neither the sockets nor
/// the TLS of the whole client.
@main struct ShoppingList {
  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  struct Usage: Error, CustomStringConvertible {
    let description = "ShoppingList URL add WHAT | buy WHAT | show | follow COUNT [--events]"
  }

  static func run(_ words: [String]) async throws {
    guard words.count >= 2, let url = URL(string: words[0]) else { throw Usage() }
    var configuration = ConnectionConfiguration()
    // Some networks let one form of stream pass and not the other.
    if words.contains("--events") { configuration.subscriptionMediaType = .eventStream }
    let list = List(client: try GraphQLClient(url: url, configuration: configuration))
    switch (words[1], words.dropFirst(2).first) {
    case ("add", let what?): try await list.add(what)
    case ("buy", let what?): try await list.buy(what)
    case ("show", nil): try await list.show()
    case ("follow", let count?):
      guard let count = Int(count) else { throw Usage() }
      try await list.follow(count)
    default: throw Usage()
    }
  }
}
