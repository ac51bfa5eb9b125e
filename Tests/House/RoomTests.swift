import Foundation
import Testing

/// The rooms of the server: what a room may name of the others.
@Suite struct RoomTests {
  /// Rooms that serve every protocol.
  static let general = ["Sources/Server/Transport", "Sources/Server/Feed"]

  @Test(arguments: general) func `rooms that serve every protocol name nothing of GraphQL`(room: String) throws {
    let types = try Self.declaredTypes(under: "Sources/Server/GraphQL")
    #expect(types.contains("GraphQLService"), "the types of the GraphQL room were not found")
    for file in Repository.current.files(under: room, extensions: ["swift"]) {
      for (number, line) in file.lines.enumerated() {
        let place = "\(file.path):\(number + 1)"
        #expect(line.range(of: "graphql", options: .caseInsensitive) == nil, "\(place) names GraphQL")
        for name in Self.words(of: line) where types.contains(name) {
          Issue.record("\(place) names \(name), which is declared in the GraphQL room")
        }
      }
    }
  }

  @Test func `no group of files of the server that reach each other is larger than eight`() throws {
    let groups = try FileGraph(under: "Sources/Server").circles()
    #expect(!groups.isEmpty, "the files of a circle were not found")
    for group in groups {
      #expect(group.count <= 8, "\(group.count) files reach each other: \(group.joined(separator: ", "))")
    }
  }

  /// Types declared at the top level of the files under a folder.
  static func declaredTypes(under folder: String) throws -> Set<String> {
    let expression = try NSRegularExpression(
      pattern: #"(?m)^(?:[a-z]+ )*(?:class|struct|enum|protocol|actor|typealias) ([A-Za-z0-9]+)"#)
    var names: Set<String> = []
    let files =
      folder.hasSuffix(".swift")
      ? [Repository.File(path: folder, text: try Repository.current.text(folder))]
      : Repository.current.files(under: folder, extensions: ["swift"])
    for file in files {
      let range = NSRange(file.text.startIndex..., in: file.text)
      for match in expression.matches(in: file.text, range: range) {
        if let name = Range(match.range(at: 1), in: file.text) { names.insert(String(file.text[name])) }
      }
    }
    return names
  }

  static func words(of line: Substring) -> [String] {
    let code = line.components(separatedBy: "//")[0]
    return code.split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }
}

/// Which files of a folder name types of which others. A file `Type+aspect.swift` belongs to the file of its type.
private struct FileGraph {
  private var edges: [String: Set<String>] = [:]
  private var sizes: [String: Int] = [:]

  init(under folder: String) throws {
    let files = Repository.current.files(under: folder, extensions: ["swift"])
    func node(_ path: String) -> String {
      path.components(separatedBy: "+")[0].replacingOccurrences(of: ".swift", with: "")
    }
    var homes: [String: String] = [:]
    for file in files {
      for type in try RoomTests.declaredTypes(under: file.path) { homes[type] = node(file.path) }
      sizes[node(file.path), default: 0] += 1
    }
    for file in files {
      let code = file.text.replacing(/"[^"\n]*"/, with: "")
      for line in code.split(separator: "\n") {
        for word in RoomTests.words(of: line) {
          if let home = homes[word], home != node(file.path) { edges[node(file.path), default: []].insert(home) }
        }
      }
    }
  }

  /// The groups of files of which each reaches every other, larger than one node; each node with all its files.
  func circles() -> [[String]] {
    var reached: [String: Set<String>] = [:]
    for start in sizes.keys {
      var found: Set<String> = []
      var next = Array(edges[start] ?? [])
      while let node = next.popLast() {
        if found.insert(node).inserted { next += edges[node] ?? [] }
      }
      reached[start] = found
    }
    var groups: Set<[String]> = []
    for start in sizes.keys where reached[start]?.contains(start) == true {
      let group = (reached[start] ?? []).filter { reached[$0]?.contains(start) == true }
      groups.insert(group.sorted().flatMap { [String](repeating: $0, count: sizes[$0] ?? 1) })
    }
    return Array(groups)
  }
}
