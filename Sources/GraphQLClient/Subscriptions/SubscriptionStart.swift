public import MartletVocabulary

/// Where a subscription begins.
///
///     let board = client.subscribe(document, from: .oldest)
///     let again = client.subscribe(document, from: .after(cursor))
///
/// Every case but `now` needs a server that gives cursors, as this package's does; others begin with what happens from
/// now on.
public enum SubscriptionStart: Sendable, Hashable {
  /// With what happens from now on.
  case now
  /// With the oldest event that the server still has. How far back that is follows from the server's retention.
  case oldest
  /// After an earlier event, named by its cursor. If the server no longer has all that followed, a gap says so.
  case after(Cursor)

  /// After a cursor that was kept, or now where there is none.
  public init(after cursor: Cursor?) {
    self = cursor.map { .after($0) } ?? .now
  }
}
