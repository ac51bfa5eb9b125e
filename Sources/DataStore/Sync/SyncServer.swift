internal import MartletJSON
internal import MartletModels
internal import MartletSyncEngine
internal import MartletVocabulary

/// The server as the engine's driver needs it.
protocol SyncServer: Sendable {
  /// Follows the changes of all models, after `cursor` if there is one. `view` is what the server has said with it of
  /// what the caller may see. `news` is called in order, the next time when it has returned.
  func follow(
    from cursor: String?, view: String?, _ news: @escaping @Sendable (FeedNews) async -> Void
  ) -> FeedFollower
  /// A page of a model, of no more than `count` records.
  func page(model: Int, _ kind: SyncKind, token: String?, upTo count: Int?) async throws(SyncFailure) -> SyncPage
  /// Sends a write.
  func upload(_ upload: SyncUpload) async -> SyncAnswer
}

/// What a followed feed reports.
enum FeedNews: Sendable {
  /// Every change after `cursor` comes. `resumed`: every one since the cursor that was given has come.
  case ready(resumed: Bool, cursor: String?, view: String?)
  case changes(FeedPart)
  /// Changes are missing up to `to`.
  case gap(reason: String, to: Cursor?)
  /// An attempt to connect has failed, and is repeated.
  case unreachable(reason: String)
  /// The connection was lost and is being made again.
  case interrupted
  /// The connection is there again, and every change after the cursor comes.
  case restored(Cursor?)
  /// The server's rules let the caller follow none of the models.
  case forbidden
  case ended(SyncFailure)
}

/// The changes of one transaction, or a part of it.
struct FeedPart: Sendable {
  var changes: [RemoteChange]
  /// Where the feed continues after it; nil when more of the transaction follows, and where there are no cursors.
  var cursor: String?
  /// The position of the last change; 0 for a server without positions.
  var position: Int64 = 0
  var endsTransaction = true
}

/// Ends a followed feed.
struct FeedFollower: Sendable {
  let cancel: @Sendable () -> Void
}

/// A write as it is sent.
struct SyncUpload: Sendable {
  var model: Int
  var key: RecordKey
  var write: PendingWrite
  /// The server's record, as this store knows it; nil for one that it does not know.
  var image: ServerImage?
  /// This store's name for the server.
  var client: String
  /// Every write up to this number has ended.
  var acknowledged: Int64
  /// Whether it has been sent before, and a server that does not know this client has forgotten it.
  var isResend: Bool
}

/// What came of sending a write.
struct SyncAnswer: Sendable {
  var result: Result<SyncUploaded, SyncFailure>
  /// The moment at the server that its positions belong to; nil where they belong to none.
  var cursor: Cursor?
}

/// The server's answer to a write.
struct SyncUploaded: Sendable {
  /// The record after it; nil when the server does not show it.
  var image: ServerImage?
  /// The position of its change.
  var position: Int64
  /// When the server made it, in milliseconds since 1970; nil where it has not said.
  var changedAt: Int64?
}
