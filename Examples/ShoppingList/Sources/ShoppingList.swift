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
    let description = "ShoppingList URL add WHAT | buy WHAT | show | follow COUNT [--events] [--key KEY]"
  }

  static func run(_ given: [String]) async throws {
    var words = given
    var configuration = ConnectionConfiguration()
    // Some networks let one form of stream pass and not the other.
    if let option = words.firstIndex(of: "--events") {
      words.remove(at: option)
      configuration.subscriptionMediaType = .eventStream
    }
    // A server that serves more than this machine asks for the household's key.
    if let option = words.firstIndex(of: "--key") {
      guard words.indices.contains(option + 1) else { throw Usage() }
      let key = words.remove(at: option + 1)
      words.remove(at: option)
      configuration.credentials = { _ in Credentials(headers: [(name: "x-api-key", value: key)]) }
    }
    guard words.count >= 2, let url = URL(string: words[0]) else { throw Usage() }
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
