internal import MartletDataStore
internal import MartletJSON

/// Something that an application wrote, and what is to become of it. Each has a word of its own, by which it is found
/// again in requests, records and refused writes.
final class Intent {
  enum Field {
    /// The title, which a later write of the same application replaces.
    case title
    /// The tags, to which later writes add.
    case tags
    /// Both.
    case record
    case deletion
  }

  let client: Int
  let id: String
  let word: String
  let field: Field
  /// The place among all intents.
  let order: Int
  /// A refused write of the record that was made again has put its own values in place of this one's.
  var isReplaced = false
  /// The store has said that it is on the disk.
  var isAccepted = false
  var handle: WriteHandle?
  /// What its handle says of its end came in the work in which the process was killed: the disk may not have it, and
  /// the write is then sent again.
  var isUnrecorded = false

  init(client: Int, id: String, word: String, field: Field, order: Int) {
    self.client = client
    self.id = id
    self.word = word
    self.field = field
    self.order = order
  }
}

/// A note as a store shows it, of any version of the application.
struct Row: Equatable, CustomStringConvertible {
  var id: String
  var title: String
  var rank: Int?
  var tags: [String]
  var owner: String?
  /// What a later version of the application has.
  var mood: String?

  init(_ note: some WorldNote) {
    id = note.id
    title = note.title
    rank = note.rank
    tags = note.tags ?? []
    owner = note.owner
    mood = note.mood
  }

  init(id: String, title: String, rank: Int?, tags: [String], owner: String?, mood: String?) {
    self.id = id
    self.title = title
    self.rank = rank
    self.tags = tags
    self.owner = owner
    self.mood = mood
  }

  var description: String { "\(id) \(title) \(rank.map(String.init) ?? "-") \(tags) \(owner ?? "-") \(mood ?? "-")" }
}

extension WriteHandle {
  /// Whether the server has the write, or it has come to another end.
  var isDecided: Bool { stage >= .durable || end != nil }
}

extension WriteHandle.Ended.Reason {
  /// The name under which it is counted.
  var name: String {
    guard case .rejected(let rejection) = self else { return "\(self)" }
    switch rejection {
    case .conflict: return "conflict"
    case .conditionFailed: return "condition"
    case .unauthorized: return "unauthorized"
    case .refused(let code, _): return code
    case .dependsOn: return "depends on another"
    }
  }
}

extension RejectedWrite {
  /// The words that it would have brought.
  var words: [String] {
    guard let text = json, let json = try? JSONValue(parsing: Array(text.utf8)) else { return [] }
    return (json["tags"]?.array ?? []).compactMap(\.string) + (json["title"]?.string.map { [$0] } ?? [])
  }
}
