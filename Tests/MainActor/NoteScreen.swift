import MartletDataStore

// Local models and a live query, written as in an application whose default isolation is the main actor.

struct Folder: StoredModel {
  var id: String
  var notes: List<Note> = []
  enum CodingKeys: String, ModelKey { case id, notes }
  static var relations: [CodingKeys: ModelAssociation] { [.notes: .hasMany(Note.self, fields: "folderID")] }
}

struct Note: StoredModel {
  var id: String
  var text: String
  var folder: LazyReference<Folder>
  enum CodingKeys: String, ModelKey { case id, text, folder }
  static var relations: [CodingKeys: ModelAssociation] { [.folder: .belongsTo(Folder.self, fields: "folderID")] }
}

final class NoteScreen {
  let notes: LiveQuery<Note>
  private let store: DataStore

  init(_ store: DataStore) {
    self.store = store
    notes = LiveQuery(Note.self, sort: .ascending(Note.keys.text), in: store)
  }

  var text: String { notes.isLoading ? "…" : notes.items.map(\.text).joined(separator: ", ") }

  func write(_ text: String, in folder: Folder) async throws {
    try await store.save(Note(id: text, text: text, folder: LazyReference(folder)))
  }
}
