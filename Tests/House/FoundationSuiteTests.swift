import Foundation
import Testing

/// Every suite runs over Foundation's network too (`Scripts/test-foundation`), or says why it does not.
@Suite(.timeLimit(.minutes(2))) struct FoundationSuiteTests {
  private static let domain = "its modules use no network, and are the same sources in both builds"
  private static let server = "tests the server, which is for Linux"
  private static let sockets = "needs the server in its process, or WebSockets, which Foundation on Linux does not have"

  /// The suites that do not run there.
  private static let reasons: [String: String] = [
    "Access": domain, "ChangeFeed": domain, "Channels": domain, "Generator": domain, "GraphQLLanguage": domain,
    "GraphQLOperations": domain, "GraphQLWire": domain, "JSON": domain, "JSONTree": domain, "LiveQueries": domain,
    "Models": domain, "Store": domain, "SyncEngine": domain, "TreeClient": domain, "TreeRules": domain,
    "TreeWire": domain, "Vocabulary": domain, "Wire": domain,
    "ChannelDelivery": server, "Command": server, "Console": server, "GraphQLExecution": server, "Server": server,
    "Sockets": server, "StoreSimulation": server, "Tokens": server, "Packaging": "no tests in Swift",
    "Readme": "no tests in Swift",
    "Checklist": sockets, "DataStoreSync": sockets, "DepartureBoard": sockets, "Guides": sockets, "HTTP": sockets,
    "HandWritten": sockets, "Presence": sockets, "SeedTour": sockets, "Seeds": sockets, "Tracing": sockets,
    "Interoperation": "ForeignServerTests is the same by HTTP; the rest needs WebSockets",
    "House": "reads sources", "Support": "no tests of its own",
  ]

  /// Files of the suites that run there, and what of the ordinary build they need.
  private static let files: [String: String] = [
    "DataStore/Processes": "other processes, by martlet-lab",
    "FoundationServer/Peer": "a program of its own, which the ordinary build makes",
    "GraphQLClient/API/ModelEndToEndTests.swift": "the server in the test's process",
    "GraphQLClient/EndToEnd": "the server in the test's process; FoundationServer tests the same by HTTP",
    "GraphQLClient/HTTP/CompressedAnswerTests.swift": "zlib; Foundation decompresses by itself",
    "GraphQLClient/Simulation/ItemResult.swift": "the server in the simulation",
    "GraphQLClient/Simulation/Promises.swift": "the server in the simulation",
    "GraphQLClient/Simulation/Scenario.swift": "the server in the simulation",
    "GraphQLClient/Simulation/ServerSimulationTests.swift": "the server in the simulation",
    "GraphQLClient/Simulation/SimulatedServer.swift": "the server in the simulation",
    "GraphQLClient/Simulation/Tree": "the server in the simulation",
    "GraphQLClient/Writes/AppliedOnceTests.swift": "the server in the simulation",
    "MainActor/ScreenTests.swift": "the server in the test's process",
    "Publishers/Bridge/DisconnectionTests.swift": "the server in the test's process",
    "Publishers/Samples": "the server in the test's process",
    "Publishers/Support/TickServer.swift": "the server in the test's process",
  ]

  /// The suites that `Scripts/test-foundation` builds.
  private static func suites() throws -> [String] {
    let script = try Repository.current.text("Scripts/test-foundation")
    let list = script.split(separator: "MARTLET_SUITES=").last?.prefix { $0 != "\n" && $0 != " " } ?? ""
    return list.split(separator: ",").map(String.init)
  }

  @Test func `every suite is built with Foundation's network, or has its reason`() throws {
    let tests = Repository.current.root.appendingPathComponent("Tests")
    let folders = try FileManager.default.contentsOfDirectory(atPath: tests.path).filter { name in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: tests.appendingPathComponent(name).path, isDirectory: &isFolder)
        && isFolder.boolValue
    }
    let suites = try Self.suites()
    #expect(Set(suites).isDisjoint(with: Self.reasons.keys))
    #expect(Set(suites).union(Self.reasons.keys) == Set(folders))
  }

  @Test func `every file that is left out of these suites has its reason, and needs what they do not have`() throws {
    let suites = try Self.suites()
    let manifest = try ManifestTests.Manifest([
      "MARTLET_NETWORK": "foundation", "MARTLET_SUITES": suites.joined(separator: ","),
    ])
    var left: Set<String> = []
    for suite in suites {
      let (excluded, sources) = try #require(manifest.parts["\(suite)Tests"], "\(suite)")
      left.formUnion(excluded.map { "\(suite)/\($0)" })
      guard let sources else { continue }
      // Of a suite of which only some files are built, the others need a server.
      for file in Repository.current.files(under: "Tests/\(suite)", extensions: ["swift"])
      where !sources.contains(where: { file.path.hasPrefix("Tests/\(suite)/\($0)") }) {
        let serves = ["import MartletServer", "import MartletWire", "TreeServing"]
        #expect(serves.contains { file.text.contains($0) }, "\(file.path)")
      }
    }
    #expect(left == Set(Self.files.keys))
  }
}
