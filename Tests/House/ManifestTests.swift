import Foundation
import Testing

/// The package's graph as Apple platforms see it: nothing that needs Linux is reached from a product.
@Suite(.timeLimit(.minutes(2))) struct ManifestTests {
  private struct Manifest {
    /// Target -> edges to other targets of the package, with the platforms of their condition.
    var edges: [String: [(target: String, platforms: [String]?)]] = [:]
    var products: [String: [String]] = [:]

    /// - Parameter environment: variables that the manifest reads.
    init(_ environment: [String: String]) throws {
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

  @Test func `with Foundation's network on Linux the client reaches what it reaches on a Mac`() throws {
    let here = try Manifest(["MARTLET_NETWORK": "foundation"])
    let there = try Manifest(["MARTLET_MANIFEST": "apple"])
    for product in Self.clients {
      #expect(here.reached(from: product, on: "linux") == there.reached(from: product, on: "macos"), "\(product)")
    }
  }
}
