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

  /// Types declared at the top level of the files under a folder.
  private static func declaredTypes(under folder: String) throws -> Set<String> {
    let expression = try NSRegularExpression(
      pattern: #"(?m)^(?:[a-z]+ )*(?:class|struct|enum|protocol|actor|typealias) ([A-Za-z0-9]+)"#)
    var names: Set<String> = []
    for file in Repository.current.files(under: folder, extensions: ["swift"]) {
      let range = NSRange(file.text.startIndex..., in: file.text)
      for match in expression.matches(in: file.text, range: range) {
        if let name = Range(match.range(at: 1), in: file.text) { names.insert(String(file.text[name])) }
      }
    }
    return names
  }

  private static func words(of line: Substring) -> [String] {
    let code = line.components(separatedBy: "//")[0]
    return code.split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }
}
