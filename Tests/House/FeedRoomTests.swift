import Testing

/// The server's feed serves any kind of subscription, so it names no protocol and no other room.
@Suite struct FeedRoomTests {
  private static let modules: Set<String> = [
    "MartletVocabulary", "MartletJSON", "MartletModels", "MartletModelSDL", "MartletChangeFeed", "MartletRuntime",
    "MartletStore",
  ]
  private static let foreign = [
    "GraphQL", "HTTP", "WebSocket", "LoopServer", "ServerNode", "ServerConnection", "OperationPlan", "RequestScope",
  ]

  @Test func `the feed imports and names nothing of GraphQL, HTTP or the node`() {
    let files = Repository.current.files(under: "Sources/Server/Feed", extensions: ["swift"])
    #expect(files.count > 5)
    for file in files {
      for name in FloorTests.imports(of: file) where name.hasPrefix("Martlet") {
        #expect(Self.modules.contains(name), "\(file.path) imports \(name)")
      }
      for (number, line) in file.lines.enumerated() {
        let code = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0]
        for name in Self.foreign {
          #expect(!code.contains(name), "\(file.path):\(number + 1) names \(name)")
        }
      }
    }
  }
}
