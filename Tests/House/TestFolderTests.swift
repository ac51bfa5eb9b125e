import Foundation
import Testing

/// One obvious place for the tests of each module.
@Suite struct TestFolderTests {
  /// Suites of several modules, of whole programs, or of the project's text.
  static let whole: [String: String] = [
    "ChannelDelivery": "a server with webhooks and their receivers",
    "Console": "the pages in a browser; not Swift",
    "Checklist": "an example",
    "DataStoreSync": "stores of clients and a server",
    "DepartureBoard": "an example",
    "FoundationServer": "the client over Foundation against the server",
    "Guides": "the complete files of the guides",
    "HandWritten": "an example",
    "House": "the text of the project",
    "Interoperation": "programs of others",
    "MainActor": "code whose default isolation is the main actor",
    "Packaging": "proxies and packages; not Swift",
    "Presence": "an example",
    "Readme": "the README in a fresh shell; not Swift",
    "SeedTour": "an example",
    "Seeds": "samples from outside",
    "Support": "what several suites share",
  ]

  /// Modules whose tests stand elsewhere.
  static let elsewhere: [String: String] = [
    "Cache": "HTTP",
    "CommandLine": "Command",
    "Console": "Server",
    "GenerateFiles": "Generator",
    "GenerateTool": "Generator",
    "GraphQLClientWire": "GraphQLWire",
    "GraphQLDocuments": "GraphQLLanguage",
    "HTTPClient": "Sockets",
    "HTTPWire": "Wire",
    "Lab": "Command",
    "Loop": "Sockets",
    "Martlet": "GraphQLClient",
    "ModelSDL": "Models",
    "Patterns": "TreeRules",
    "PowerCut": "Store",
    "Runtime": "Sockets",
    "SQLite": "Store",
    "SQLiteStore": "GraphQLStore",
    "Signatures": "Tokens",
    "Simulation": "GraphQLClient",
    "SimulationTool": "StoreSimulation",
    "Testing": "GraphQLClient",
  ]

  @Test func `a test folder has neither a module of its name nor a stated purpose`() throws {
    let modules = try Set(Self.folders("Sources"))
    for folder in try Self.folders("Tests") {
      #expect(modules.contains(folder) != Self.whole.keys.contains(folder) || folder == "Console", "Tests/\(folder)")
    }
  }

  @Test func `a module has no test folder`() throws {
    let folders = try Set(Self.folders("Tests"))
    for module in try Self.folders("Sources") where !module.hasPrefix("CMartlet") {
      guard let other = Self.elsewhere[module] else {
        #expect(folders.contains(module), "Sources/\(module) has no Tests/\(module)")
        continue
      }
      let imports = Repository.current.files(under: "Tests/\(other)", extensions: ["swift"])
        .contains { file in
          file.lines.contains { $0.hasSuffix("import Martlet\(module)") || $0.hasSuffix("import \(module)") }
        }
      #expect(imports || Self.usedByProgram.contains(module), "Tests/\(other) does not import \(module)")
    }
  }

  /// Programs are tested by running them; the others are reached through the modules above them.
  static let usedByProgram: Set<String> = ["GenerateTool", "Lab", "Console", "SimulationTool"]

  private static func folders(_ parent: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(
      at: Repository.current.root.appendingPathComponent(parent), includingPropertiesForKeys: [.isDirectoryKey]
    )
    .filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
    .map(\.lastPathComponent)
  }
}
