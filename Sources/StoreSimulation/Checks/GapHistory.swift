internal import MartletVocabulary

/// The gaps that clients' feeds have had, and what each owes since then.
struct GapHistory {
  /// Models that a client owes a full sync.
  private var owed: [Int: Set<String>] = [:]
  /// When the last gap came.
  private var times: [Int: Instant] = [:]

  /// A client's feed has a gap.
  mutating func begin(_ client: Int, at now: Instant?) {
    owed[client] = ["Account", "Note"]
    times[client] = now
  }

  /// A client has synced all records of a model.
  mutating func sync(_ client: Int, _ model: String) { owed[client]?.remove(model) }

  /// A client owes nothing: its process begins, or its feed resumes.
  mutating func end(_ client: Int) { owed[client] = nil }

  /// The models that a client owes a full sync when it says that it is ready.
  func rest(_ client: Int, at now: Instant?) -> [String] {
    isMet(client, at: now) ? [] : (owed[client] ?? []).sorted()
  }

  /// Whether a gap has come at this very instant. A store that is ready then has yet to take the gap up, and what the
  /// server has sent since is for the sync that follows.
  func isMet(_ client: Int, at now: Instant?) -> Bool { times[client].map { $0 == now } ?? false }
}
