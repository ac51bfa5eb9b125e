import MartletGraphQLWire
import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire

@Suite struct DialectChoiceTests {
  @Test(arguments: Dialect.allCases) func `a server chooses each dialect, where its subprotocol is offered`(
    dialect: Dialect
  ) throws {
    let chosen = try ["/graphql", "/graphql/realtime"].map { path in
      try DialectChoice.choose(path: path, query: nil, subprotocols: [dialect.subprotocol])?.dialect
    }
    #expect(chosen.contains(dialect))
  }
}
