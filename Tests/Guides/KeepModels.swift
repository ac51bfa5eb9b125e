import MartletDataStore

/// Models in a file of the program's own, and a list that follows them.
struct Notebook: Sendable {
  struct Note: Model, Equatable {
    var id: String
    var text: String
    var rank: Double

    enum CodingKeys: String, ModelKey { case id, text, rank }
  }

  let store: DataStore

  init(_ storage: DataStoreStorage) throws {
    store = try DataStore(models: [Note.self], storage: storage)
  }

  func add(_ text: String, rank: Double) async throws {
    _ = try await store.save(Note(id: text, text: text, rank: rank))
  }

  /// The best notes now, and again after each change, until `show` returns false.
  func best(_ show: @Sendable ([String]) -> Bool) async throws {
    let note = Note.keys
    for try await snapshot in store.observeQuery(for: Note.self, where: note.rank > 3, sort: .descending(note.rank)) {
      guard show(snapshot.items.map(\.text)) else { return }
    }
  }
}
