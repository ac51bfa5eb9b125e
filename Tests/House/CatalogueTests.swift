import Foundation
import Testing

/// Every library has a page of documentation, and `make docs` builds it.
@Suite struct CatalogueTests {
  private static func libraries() throws -> [String] {
    let manifest = try String(contentsOf: Repository.current.root.appending(path: "Package.swift"), encoding: .utf8)
    return manifest.matches(of: /\.library\(name: "(\w+)"/).map { String($0.output.1) }
  }

  @Test func `every library has a catalogue with a page of its name`() throws {
    let libraries = try Self.libraries()
    #expect(libraries.contains("Martlet"))
    let pages = Repository.current.files(under: "Sources", extensions: ["md"])
    for library in libraries {
      let page = pages.first { $0.path.hasSuffix("/\(library).docc/\(library).md") }
      #expect(page?.text.hasPrefix("# ``\(library)``") == true, "\(library) has no page")
    }
  }

  @Test func `every library is built by make docs`() throws {
    let script = Repository.current.root.appending(path: "Scripts/build-docs")
    let lines = try String(contentsOf: script, encoding: .utf8).split(separator: "\n")
    for library in try Self.libraries() {
      #expect(lines.contains { $0.hasPrefix("\(library) Sources/") }, "\(library) is not in Scripts/build-docs")
    }
  }
}
