import Martlet

/// The guide's operation without generation.
struct HeroName: GraphQLQuery, Codable {
  static let operationName = "HeroName"
  static let operationDocument = "query HeroName($episode: Episode) { hero(episode: $episode) { id name } }"

  var episode: GraphQLNullable<String> = .none

  struct Data: Codable, Sendable {
    struct Hero: Codable, Sendable {
      var id: String
      var name: String
    }
    var hero: Hero?
  }
}

enum HandWritten {
  static func names(_ client: GraphQLClient) async throws -> [String] {
    var names: [String] = []
    for try await result in try client.watch(query: HeroName(episode: "JEDI")) {
      names.append(result.data?.hero?.name ?? "no hero")
    }
    return names
  }
}
