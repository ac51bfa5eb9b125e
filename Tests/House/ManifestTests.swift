import Foundation
import Synchronization
import Testing

/// The package's graph as Apple platforms see it: nothing that needs Linux is reached from a product.
@Suite(.timeLimit(.minutes(2))) struct ManifestTests {
  struct Manifest {
    /// Target -> edges to other targets of the package, with the platforms of their condition.
    var edges: [String: [(target: String, platforms: [String]?)]] = [:]
    var products: [String: [String]] = [:]
    /// Target -> what is left out of its folder, and the sources where they are not all of it.
    var parts: [String: (excluded: [String], sources: [String]?)] = [:]
    /// Libraries of the system, and whether they are looked for by pkg-config.
    var libraries: [String: Bool] = [:]

    private static let read = Mutex<[[String: String]: Manifest]>([:])

    /// The manifest under these variables. The package manager, which takes seconds, is asked once for each of them.
    init(_ environment: [String: String]) throws {
      self = try Self.read.withLock { read in
        if let manifest = read[environment] { return manifest }
        let manifest = try Manifest(asking: environment)
        read[environment] = manifest
        return manifest
      }
    }

    /// - Parameter environment: variables that the manifest reads.
    private init(asking environment: [String: String]) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
      process.arguments = ["swift", "package", "--scratch-path", scratch.path, "dump-package"]
      process.currentDirectoryURL = Repository.current.root
      // What the tests themselves were built with must not decide.
      var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("MARTLET_") }
      variables.merge(environment) { $1 }
      process.environment = variables
      let output = Pipe()
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      try? FileManager.default.removeItem(at: scratch)
      let root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
      for target in try #require(root["targets"] as? [[String: Any]]) {
        let name = try #require(target["name"] as? String)
        parts[name] = (target["exclude"] as? [String] ?? [], target["sources"] as? [String])
        if target["type"] as? String == "system" { libraries[name] = target["pkgConfig"] is String }
        edges[name] = (target["dependencies"] as? [[String: Any]] ?? []).compactMap { dependency in
          guard let edge = (dependency["target"] ?? dependency["byName"]) as? [Any], let to = edge.first as? String
          else { return nil }
          return (to, (edge.last as? [String: Any])?["platformNames"] as? [String])
        }
      }
      for product in try #require(root["products"] as? [[String: Any]]) {
        products[try #require(product["name"] as? String)] = product["targets"] as? [String]
      }
    }

    /// What a product compiles on a platform.
    func reached(from product: String, on platform: String) -> Set<String> {
      var found: Set<String> = []
      var pending = products[product] ?? []
      while let name = pending.popLast() {
        guard found.insert(name).inserted else { continue }
        for edge in edges[name] ?? [] where edge.platforms?.contains(platform) ?? true { pending.append(edge.target) }
      }
      return found
    }
  }

  private static let linuxOnly: Set<String> = [
    "CMartletSystem", "CMartletOpenSSL", "CMartletZlib", "CMartletCurl", "CMartletAllocationCounter", "MartletLoop",
    "MartletSockets", "MartletSignatures", "MartletHTTPClient", "MartletServer", "MartletCommand",
  ]
  private static let clients = [
    "Martlet", "MartletHTTP", "MartletCache", "MartletPublishers", "MartletTesting", "MartletSQLiteStore",
    "MartletDataStore",
    "MartletDatasync",
  ]
  private static let platforms = ["macos", "ios", "tvos", "watchos", "visionos"]

  @Test(arguments: [[:], ["MARTLET_MANIFEST": "apple"]])
  func `on Apple platforms the client's products reach nothing that needs Linux, and the network over Foundation`(
    environment: [String: String]
  ) throws {
    let manifest = try Manifest(environment)
    for platform in Self.platforms {
      for product in Self.clients {
        let reached = manifest.reached(from: product, on: platform)
        #expect(!reached.isEmpty && reached.isDisjoint(with: Self.linuxOnly), "\(product) on \(platform): \(reached)")
      }
      for product in ["Martlet", "MartletHTTP"] {
        #expect(manifest.reached(from: product, on: platform).contains("MartletFoundationNetwork"))
      }
    }
    // Of the system's libraries there is SQLite, which Apple's systems have without pkg-config.
    let libraries = Set(manifest.libraries.keys)
    for product in Self.clients {
      let reached = manifest.reached(from: product, on: "ios").intersection(libraries)
      #expect(reached.isSubset(of: ["CMartletSQLite"]), "\(product): \(reached)")
    }
    if !environment.isEmpty { #expect(manifest.libraries == ["CMartletSQLite": false]) }
    let here = manifest.reached(from: "Martlet", on: "linux")
    if environment.isEmpty { #expect(here.contains("MartletLoop") && !here.contains("MartletFoundationNetwork")) }
  }

  @Test func `the manifest of a Mac has no target that needs Linux, since a root build compiles all of them`() throws {
    let manifest = try Manifest(["MARTLET_MANIFEST": "apple"])
    #expect(Set(manifest.edges.keys).isDisjoint(with: Self.linuxOnly))
    #expect(Self.clients.allSatisfy { manifest.products[$0] != nil })
    #expect(manifest.products["MartletGeneratePlugin"] != nil && manifest.products["MartletServer"] == nil)
    for (name, edges) in manifest.edges {
      for edge in edges { #expect(manifest.edges[edge.target] != nil, "\(name) needs \(edge.target)") }
    }
  }

  @Test func `the workflow builds every product of the client's for every system, and runs suites that are there`()
    throws
  {
    let text = try Repository.current.text(".github/workflows/apple.yml")
    let words = Set(text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
    #expect(words.isSuperset(of: Self.clients) && words.isSuperset(of: ["iOS", "tvOS", "watchOS", "visionOS"]))
    let list = text.split(separator: "MARTLET_SUITES: ").last?.prefix { $0 != "\n" } ?? ""
    let manifest = try Manifest(["MARTLET_MANIFEST": "apple", "MARTLET_SUITES": String(list)])
    for suite in list.split(separator: ",") { #expect(manifest.edges["\(suite)Tests"] != nil, "\(suite)") }
  }

  /// So that the rules for what Apple platforms compile hold for a module that is added.
  @Test func `every module of the client's products is checked for what its platforms have`() throws {
    let manifest = try Manifest(["MARTLET_MANIFEST": "apple"])
    let reached = Self.clients.reduce(into: Set<String>()) { $0.formUnion(manifest.reached(from: $1, on: "ios")) }
    // Martlet itself, and Foundation's network, have names of their own.
    let modules = reached.filter { !$0.hasPrefix("C") }.map { $0 == "Martlet" ? $0 : String($0.dropFirst(7)) }
    #expect(Set(modules) == Set(PlatformTests.modules))
  }

  @Test func `with Foundation's network on Linux the client reaches what it reaches on a Mac`() throws {
    let here = try Manifest(["MARTLET_NETWORK": "foundation"])
    let there = try Manifest(["MARTLET_MANIFEST": "apple"])
    for product in Self.clients {
      #expect(here.reached(from: product, on: "linux") == there.reached(from: product, on: "macos"), "\(product)")
    }
  }
}
