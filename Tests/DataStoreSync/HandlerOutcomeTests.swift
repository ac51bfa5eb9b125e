import MartletDataStore
import MartletServer
import Testing

/// What stores see of a conflict that a handler of the server's program has decided.
@Suite(.timeLimit(.minutes(1))) struct HandlerOutcomeTests {
  private static let schema = """
    type Folder @model @versioned { id: ID! name: String! }
    type Note @model @versioned(conflicts: LAMBDA) { id: ID! text: String! rank: Int owner: String }
    """

  @Test func `a record that the handler removes for an update is gone from every store`() async throws {
    try await SyncedServer.with(
      Self.schema,
      { configuration in
        configuration.conflictHandlers["Note"] = ConflictHandler { conflict in
          conflict.newItem == nil ? .reject : .remove
        }
      }
    ) { server in
      let (ada, bob) = (try SyncedStore(server), try SyncedStore(server, as: "bob"))
      let note = Note(id: "a", text: "one", rank: 1)
      try await ada.store.save(note)
      try await ada.settle()
      try await bob.settle()
      try await bob.sees([note])
      // The handler removes what an update was made for.
      try await ada.cut()
      var (mine, theirs) = (note, note)
      mine.text = "mine"
      try await ada.store.save(mine)
      theirs.text = "three"
      try await bob.store.save(theirs)
      try await bob.settle()
      try await ada.mend()
      try await ada.sees([])
      try await bob.sees([])
      try await ada.settle()
      #expect(try await ada.store.query(Note.self).isEmpty)
      ada.close()
      bob.close()
    }
  }
}
