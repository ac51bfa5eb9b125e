import Foundation
import Testing

/// The allowed edges of the house, said once more beside Package.swift so that a new edge is a deliberate act.
@Suite struct FloorTests {
  /// Module folder -> what it may import besides the standard library.
  static let allowed: [String: Set<String>] = [
    "Vocabulary": [],
    "Console": [],
    "JSON": [],
    "GraphQLDocuments": [],
    "GraphQLLanguage": ["GraphQLDocuments"],
    "Access": ["Vocabulary", "JSON"],
    "Tokens": ["Vocabulary", "JSON", "Access"],
    "Signatures": ["Tokens"],
    "Patterns": [],
    "Models": ["Vocabulary", "JSON", "Patterns", "Access"],
    "ModelSDL": ["Vocabulary", "JSON", "GraphQLLanguage", "Access", "Models"],
    "ChangeFeed": ["Vocabulary", "JSON", "JSONTree", "Models"],
    "LiveQueries": ["JSON", "Models", "ChangeFeed"],
    "SyncEngine": ["Vocabulary", "JSON", "Models"],
    "HTTPWire": ["Vocabulary"],
    "Wire": ["Vocabulary", "HTTPWire"],
    "GraphQLClientWire": ["Vocabulary", "JSON", "HTTPWire"],
    "GraphQLWire": ["Vocabulary", "JSON", "Wire", "GraphQLClientWire"],
    "Tracing": ["Vocabulary", "JSON"],
    "JSONTree": ["JSON"],
    "TreeRules": ["JSON", "Patterns", "JSONTree"],
    "TreeWire": ["Vocabulary", "JSON", "JSONTree", "Wire"],
    "Channels": ["Vocabulary", "JSON", "JSONTree", "Wire"],
    "TreeClient": ["Vocabulary", "JSON", "JSONTree", "TreeWire"],
    "Runtime": ["Vocabulary"],
    "SQLite": ["Vocabulary", "Runtime"],
    "PowerCut": ["SQLite"],
    "Loop": ["Vocabulary", "Runtime"],
    "Sockets": ["Vocabulary", "Runtime", "Wire", "Loop"],
    "HTTPClient": ["Vocabulary", "Runtime"],
    "GraphQLOperations": ["Vocabulary", "JSON"],
    "GraphQLClient": [
      "Vocabulary", "JSON", "GraphQLClientWire", "HTTPWire", "Tracing", "Runtime", "GraphQLOperations",
    ],
    "GraphQLExecution": ["Vocabulary", "JSON", "GraphQLLanguage", "Access", "Runtime"],
    "GraphQLStore": ["JSON", "GraphQLDocuments", "Runtime", "GraphQLOperations"],
    "SQLiteStore": ["JSON", "GraphQLStore", "SQLite"],
    "Cache": ["JSON", "GraphQLStore", "GraphQLClient"],
    "Generator": ["JSON", "GraphQLLanguage", "Models"],
    "GenerateFiles": ["JSON", "GraphQLLanguage", "Models", "ModelSDL", "Generator"],
    "GenerateTool": ["Generator", "GenerateFiles"],
    "Store": [
      "Vocabulary", "JSON", "JSONTree", "Models", "ModelSDL", "ChangeFeed", "LiveQueries",
      "SyncEngine",
      "Runtime", "SQLite",
    ],
    "DataStore": [
      "Vocabulary", "JSON", "Models", "LiveQueries", "SyncEngine", "Runtime", "SQLite", "Store",
      "GraphQLClient",
    ],
    "Datasync": [
      "Vocabulary", "JSON", "JSONTree", "TreeWire", "TreeClient", "Wire", "Runtime", "SQLite", "GraphQLClient",
      "Martlet",
    ],
    "FoundationNetwork": ["Vocabulary", "Runtime", "HTTPWire", "GraphQLClient"],
    "HTTP": ["GraphQLClient", "Runtime", "Loop", "HTTPClient", "FoundationNetwork"],
    "Martlet": [
      "Vocabulary", "GraphQLClient", "JSON", "Wire", "Runtime", "Sockets", "HTTP", "Cache", "GraphQLStore",
      "FoundationNetwork",
    ],
    "Publishers": ["GraphQLClient", "Runtime"],
    "Testing": [
      "Vocabulary", "GraphQLClient", "JSON", "JSONTree", "TreeRules", "GraphQLWire", "Wire", "Runtime", "Simulation",
      "Models", "ModelSDL", "LiveQueries", "SyncEngine",
    ],
    "CommandLine": ["Vocabulary", "GraphQLLanguage", "Runtime"],
    "Simulation": ["Vocabulary", "JSON", "Models", "Runtime"],
    "Server": [
      "Vocabulary", "JSON", "JSONTree", "TreeRules", "TreeWire", "GraphQLLanguage", "Access", "Models", "ModelSDL",
      "ChangeFeed", "GraphQLWire", "Wire", "Tracing", "Console", "Runtime", "Loop", "Sockets", "Tokens", "Signatures",
      "HTTPClient", "GraphQLExecution", "Store", "Channels",
    ],
  ]

  static let floor0 = [
    "Vocabulary", "Console", "JSON", "GraphQLDocuments", "GraphQLLanguage", "Access", "Tokens", "Patterns", "Models",
    "ModelSDL", "ChangeFeed", "LiveQueries", "SyncEngine", "GraphQLClientWire", "GraphQLWire", "HTTPWire", "Wire",
    "Tracing",
    "JSONTree", "TreeRules", "TreeWire", "TreeClient", "Channels",
  ]

  @Test(arguments: allowed.keys.sorted())
  func `a module imports only from the floors below it`(module: String) {
    let permitted = Set((Self.allowed[module] ?? []).map { $0 == "Martlet" ? $0 : "Martlet\($0)" })
    for file in Repository.current.files(under: "Sources/\(module)", extensions: ["swift"]) {
      for name in Self.imports(of: file) where name.hasPrefix("Martlet") {
        #expect(permitted.contains(name), "\(file.path) imports \(name)")
      }
    }
  }

  @Test(arguments: allowed.keys.sorted())
  func `a module imports every module that it may import, or the package has an edge for nothing`(module: String) {
    let imported = Set(
      Repository.current.files(under: "Sources/\(module)", extensions: ["swift"]).flatMap { Self.imports(of: $0) })
    for name in Self.allowed[module] ?? [] {
      #expect(imported.contains(name == "Martlet" ? name : "Martlet\(name)"), "\(module) never imports \(name)")
    }
  }

  @Test(arguments: floor0)
  func `floor 0 imports nothing from outside the project`(module: String) {
    for file in Repository.current.files(under: "Sources/\(module)", extensions: ["swift"]) {
      for name in Self.imports(of: file) {
        #expect(name.hasPrefix("Martlet"), "\(file.path) imports \(name)")
      }
    }
  }

  @Test func `only the server side and the command may import Foundation, and say where`() {
    let permitted = [
      "Cache", "GraphQLClient", "GraphQLOperations", "HTTP", "Martlet", "Testing", "Simulation", "Command",
      "CommandLine", "Lab",
      "HTTPClient",
      "Server",
      "Sockets", "Store",
      "SQLiteStore", "SimulationTool",
      "GenerateFiles", "GenerateTool", "Publishers", "FoundationNetwork", "Datasync", "DataStore",
    ]
    for file in Repository.current.files(under: "Sources", extensions: ["swift"]) {
      let module = file.path.split(separator: "/").dropFirst().first.map(String.init) ?? ""
      for name in Self.imports(of: file) where name.hasPrefix("Foundation") {
        #expect(permitted.contains(module), "\(file.path) imports \(name)")
        // The network over Foundation, and the place that names a session's type, for programs that configure their
        // socket by one.
        if module == "FoundationNetwork" || file.path.hasSuffix("/WebSocketTransport+urlSession.swift") { continue }
        #expect(name != "FoundationNetworking", "\(file.path) brings in FoundationNetworking")
      }
    }
  }

  static func imports(of file: Repository.File) -> [String] {
    // Text of other languages, embedded in Swift.
    if file.path.contains("/Embedded/") { return [] }
    return file.lines.compactMap { line in
      let words = line.split(separator: " ")
      guard let at = words.firstIndex(of: "import"), at + 1 < words.count, !line.hasPrefix("//"), at <= 2 else {
        return nil
      }
      let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "typealias", "let", "var"]
      let name = kinds.contains(words[at + 1]) && at + 2 < words.count ? words[at + 2] : words[at + 1]
      return name.split(separator: ".").first.map(String.init)
    }
  }
}
