import Martlet
import MartletDataStore

/// What becomes of notes that were changed here and elsewhere.
enum NoteConflicts {
  struct Note: Model, Equatable {
    var id: String
    var text: String
    var votes: Int
    enum CodingKeys: String, ModelKey { case id, text, votes }
  }

  /// Both texts, and the larger number of votes; what the server has deleted stays deleted.
  static func configuration() -> DataStoreConfiguration {
    var configuration = DataStoreConfiguration()
    configuration.conflictHandler = { conflict in
      guard conflict.modelName == Note.modelName, conflict.attempt < 3,
        let mine = try? conflict.local(as: Note.self), var merged = try? conflict.remote(as: Note.self)
      else { return .applyRemote }
      merged.text += "\n" + mine.text
      merged.votes = max(merged.votes, mine.votes)
      return .retry(merged)
    }
    return configuration
  }

  /// What the server has refused: made again if it was only in the way of another change, forgotten otherwise.
  static func tidy(_ store: DataStore) async throws {
    for write in try await store.rejectedWrites() {
      if write.reason == .conflict { try await store.retry(write) } else { try await store.discard(write) }
    }
  }
}
