import MartletDataStore
import MartletSQLite
import MartletServer
import Testing

/// What a synced store's file has of a record.
@Suite(.timeLimit(.minutes(1))) struct SyncedFileTests {
  private static func texts(_ sql: String, _ path: String) throws -> [String] {
    var options = Database.Options()
    options.isReadOnly = true
    let statement = try Database(path: path, options: options).prepare(sql)
    var found: [String] = []
    while try statement.step() { found.append(statement.text(0)) }
    return found
  }

  @Test func `a record's version is not in its row, or the server's image is kept beside a row without writes`()
    async throws
  {
    try await SyncedServer.with { server in
      try await TemporaryFolder.with { folder in
        let bob = try SyncedStore(server, as: "bob")
        for number in 1...3 { try await bob.store.save(Note(id: "n\(number)", text: "t")) }
        try await bob.settle()
        let path = folder + "/store"
        let ada = try SyncedStore(server, storage: .file(path))
        try await ada.settle()
        let versions = "SELECT id || \"#version\" FROM record_Note ORDER BY id"
        let images = "SELECT count(*) FROM martlet_client_images"
        #expect(try Self.texts(versions, path) == ["n11", "n21", "n31"])
        #expect(try Self.texts(images, path) == ["0"])
        try await ada.cut()
        try await ada.store.save(Note(id: "n2", text: "u", owner: "bob"))
        #expect(try Self.texts(images, path) == ["1"])
        try await ada.mend()
        try await ada.settle()
        #expect(try Self.texts(versions, path) == ["n11", "n22", "n31"])
        #expect(try Self.texts(images, path) == ["0"])
        ada.close()
        bob.close()
      }
    }
  }
}
