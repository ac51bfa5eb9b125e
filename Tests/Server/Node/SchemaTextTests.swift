import MartletSQLite
import MartletServer
import MartletStore
import Testing

/// The data says which schema it was written under.
struct SchemaTextTests {
  @Test func `the text of the schema in force is in the data, from the start on and after a reload`() async throws {
    let folder = try TemporaryFolder()
    let first = "type Note @model { id: ID! }"
    let second = first + "\n# Nothing but this line is new."
    for _ in 1...2 {
      try await Served.with(first, { $0.data = .folder(folder.path) }) { server in
        try await server.reload(schema: second)
      }
    }
    let database = try Database(path: folder.path + "/" + StoreFormat.databaseName)
    let rows = try database.prepare("SELECT text FROM martlet_revisions ORDER BY revision")
    var texts: [String] = []
    while try rows.step() { texts.append(rows.text(0)) }
    #expect(texts == [first, second, first, second])
  }
}
