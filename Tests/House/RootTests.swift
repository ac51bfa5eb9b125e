import Foundation
import Testing

/// What lies at the root of the checkout. A commit of everything takes what a download or a script has left there.
@Suite struct RootTests {
  private static let names: Set<String> = [
    "Benchmarks", "CHANGELOG.md", "CONTRIBUTING.md", "Conformance", "Examples", "Fuzz", "Interoperation", "LICENSE",
    "Makefile", "Package.resolved", "Package.swift", "Packaging", "Plugins", "README.md", "Scripts", "Simulation",
    "Sources", "Tests", "docs",
  ]

  @Test func `nothing lies at the root that is not part of the project`() throws {
    let found = try FileManager.default.contentsOfDirectory(atPath: Repository.current.root.path)
    // What begins with a dot is configuration, or ignored by .gitignore, as `site` is.
    let strange = found.filter { !$0.hasPrefix(".") && $0 != "site" && !Self.names.contains($0) }.sorted()
    #expect(strange.isEmpty, "move or remove \(strange), or name it here")
  }
}
