internal import MartletJSON
internal import MartletModels
internal import MartletSyncEngine

/// The server as the engine's driver needs it.
protocol SyncServer: Sendable {
  /// Follows the changes of all models, after `cursor` if there is one. `news` is called from any thread, in order.
  func follow(from cursor: String?, _ news: @escaping @Sendable (FeedNews) -> Void) -> FeedFollower
  /// A page of a model.
  func page(model: Int, _ kind: SyncKind, token: String?) async throws(SyncFailure) -> SyncPage
  /// Sends a write.
  func upload(_ upload: SyncUpload) async throws(SyncFailure) -> SyncUploaded
}

/// What a followed feed reports.
enum FeedNews: Sendable {
  /// Every change from here on comes. `resumed`: and every one since the cursor that was given.
  case ready(resumed: Bool)
  /// The changes of one transaction, or a part of it.
  case changes([RemoteChange], cursor: String?, position: Int64)
  /// Changes are missing.
  case gap(reason: String)
  /// The connection was lost and is being made again.
  case interrupted
  /// The connection is there again.
  case restored
  case ended(SyncFailure)
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
  /// The version of the server's record, as this store knows it.
  var version: Int64
  /// This store's name for the server.
  var client: String
  /// Every write up to this number has ended.
  var acknowledged: Int64
  /// Whether it may have been sent before.
  var isResend: Bool
}

/// The server's answer to a write.
struct SyncUploaded: Sendable {
  /// The record after it; nil when the server does not show it.
  var image: ServerImage?
  /// The position of its change.
  var position: Int64
}
