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

  @Test func `what rooms that serve every protocol name compiles without GraphQL`() throws {
    let files = Repository.current.files(under: "Sources/Server", extensions: ["swift"])
    let names = files.map { DeclaredNames.of($0) }
    var homes: [String: Int] = [:]
    for index in files.indices where !files[index].path.contains("+") {
      for type in names[index].topLevelTypes { homes[type] = index }
    }
    // A type of another module can have an initializer here.
    var initializers: [String: Int] = [:]
    for index in files.indices {
      for type in try Self.extended(by: files[index].text, pattern: #"\binit\("#) where homes[type] == nil {
        initializers[type] = index
      }
    }
    #expect(initializers["WebSocketLimits"] != nil)
    var next = files.indices.filter { index in
      Self.general.contains { files[index].path.hasPrefix($0 + "/") }
    }
    #expect(next.count > 20)
    var reached = Set(next)
    while let index = next.popLast() {
      for module in FloorTests.imports(of: files[index]) {
        #expect(!module.contains("GraphQL"), "\(files[index].path) imports \(module)")
      }
      let nested = Set(names[index].declarations.map(\.name)).subtracting(names[index].topLevelTypes)
      for word in names[index].read.union(names[index].written) where !nested.contains(word) {
        for home in [homes[word], initializers[word]].compactMap({ $0 }) where reached.insert(home).inserted {
          next.append(home)
        }
      }
    }
  }

  @Test func `what asks for credentials and tries connections again names nothing of GraphQL or of a network`() {
    let files = Repository.current.files(under: "Sources/GraphQLClient/Attempts", extensions: ["swift"])
    #expect(files.contains { $0.path.hasSuffix("/ConnectionMachine.swift") })
    let foreign = ["GraphQL", "HTTP", "Socket", "Operation", "Subscription", "Dialect"]
    for file in files {
      let isPure = file.path.hasSuffix("Machine.swift")
      for module in FloorTests.imports(of: file) {
        #expect(isPure ? module == "MartletVocabulary" : !module.contains("GraphQL"), "\(file.path) imports \(module)")
      }
      for (number, line) in file.lines.enumerated() {
        for word in Self.words(of: line) where foreign.contains(where: word.contains) {
          Issue.record("\(file.path):\(number + 1) names \(word)")
        }
      }
    }
  }

  @Test func `no group of files of the server that reach each other is larger than eight`() {
    let sources = Repository.current.files(under: "Sources", extensions: ["swift"])
    let graph = FileGraph(of: sources.filter { $0.path.hasPrefix("Sources/Server/") }, among: sources)
    let groups = graph.circles()
    #expect(!groups.isEmpty, "the files of a circle were not found")
    for group in groups {
      #expect(group.count <= 8, "\(group.count) files reach each other:\n\(graph.reasons(in: group))")
    }
  }

  @Test func `files reach each other by types, by members alone, and by conformances`() {
    func circle(_ texts: [String: String]) -> [[String]] {
      let files = texts.sorted { $0.key < $1.key }.map { Repository.File(path: $0.key, text: $0.value) }
      return FileGraph(of: files, among: files).circles()
    }
    let a = "struct A {\n  let b: B\n}\n"
    #expect(circle(["A.swift": a, "B.swift": "struct B {\n  let a: A?\n}\n"]) == [["A", "B"]])
    #expect(circle(["A.swift": a, "B.swift": "struct B {\n  // A\n  let a = \"A\"\n}\n"]) == [])
    // B goes through a property to a member of an aspect of A.
    let aspect = "extension A {\n  func turn() {}\n}\n"
    let user = "struct B {\n  func go(_ owner: Owner) { owner.it.turn() }\n}\n"
    #expect(circle(["A.swift": a, "X/A+turn.swift": aspect, "B.swift": user]) == [["A", "A", "B"]])
    // The same member of two types says nothing.
    let other = "struct C {\n  func turn() {}\n}\n"
    #expect(circle(["A.swift": a, "A+turn.swift": aspect, "B.swift": user, "C.swift": other]) == [])
    // B goes through a property whose type is known.
    let holder = "struct H {\n  let front: A\n}\n"
    let through = "struct B {\n  func go(_ h: H) { h.front.x() }\n}\n"
    #expect(circle(["A.swift": a, "B.swift": through, "H.swift": holder]).map(\.count) == [3])
    // C hands an A out as a P, which it is by the file of B.
    let conforming = "extension A: P {\n  func c(_ c: C) {}\n}\n"
    let handing = "struct C {\n  func p(_ a: A) -> any P { a }\n}\n"
    #expect(
      circle(["P.swift": "protocol P {}\n", "A.swift": "struct A {}\n", "B.swift": conforming, "C.swift": handing]) == [
        ["B", "C"]
      ])
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

  /// Types that a file extends by what matches the pattern.
  private static func extended(by text: String, pattern: String) throws -> Set<String> {
    let member = try NSRegularExpression(pattern: pattern)
    var types: Set<String> = []
    for part in text.components(separatedBy: "\nextension ").dropFirst() {
      let body = part.components(separatedBy: "\n}")[0]
      guard member.firstMatch(in: body, range: NSRange(body.startIndex..., in: body)) != nil else { continue }
      types.insert(String(part.prefix { $0.isLetter || $0.isNumber }))
    }
    return types
  }

  static func words(of line: Substring) -> [String] {
    let code = line.components(separatedBy: "//")[0]
    return code.split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }
}
