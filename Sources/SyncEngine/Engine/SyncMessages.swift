package import MartletJSON
package import MartletModels
package import MartletVocabulary

/// A change of a record on the server.
package struct RemoteChange: Sendable, Hashable {
  /// The model's position among the engine's models.
  package var model: Int
  package var key: RecordKey
  package var image: ServerImage
  /// The fields that differ from the image before, by position; nil for an image that is whole.
  package var changed: [Int: JSONValue]?

  package init(model: Int, key: RecordKey, image: ServerImage, changed: [Int: JSONValue]? = nil) {
    self.changed = changed
    self.model = model
    self.key = key
    self.image = image
  }
}

/// A page of a sync query.
package struct SyncPage: Sendable, Hashable {
  package var changes: [RemoteChange]
  /// Asks for the next page; nil on the last.
  package var nextToken: String?
  /// The server's time when the first page began, in milliseconds; the next delta begins there.
  package var startedAt: Int64
  /// The position of the snapshot that the pages are read from.
  package var position: Int64
  /// The cursor of `position`, from which a feed can continue; nil for a server without cursors.
  package var cursor: String?
  /// Whether the server answered a delta query with all records, because the delta is no longer there.
  package var isFull: Bool
  /// How many records all pages have, on the first one; nil where the server has not said.
  package var expected: Int?

  package init(
    changes: [RemoteChange], nextToken: String? = nil, startedAt: Int64, position: Int64, cursor: String? = nil,
    isFull: Bool = false, expected: Int? = nil
  ) {
    self.expected = expected
    self.cursor = cursor
    self.changes = changes
    self.nextToken = nextToken
    self.startedAt = startedAt
    self.position = position
    self.isFull = isFull
  }
}

/// Why an exchange with the server failed.
package enum SyncFailure: Error, Sendable, Hashable {
  /// No answer: offline, timeout, connection lost, an answer that cannot be read.
  case network
  /// The server has no capacity now (429, 5xx), and perhaps says when to come back.
  case overloaded(retryAfter: Duration?)
  /// The server failed at this request. Another attempt may succeed, and may fail in the same way for ever.
  case faulted(code: String, message: String)
  /// The credentials are not accepted.
  case unauthorized
  /// The caller is known, and the rules refuse what it asks for.
  case forbidden
  /// The record's condition does not hold.
  case conditionFailed
  /// The server has another version of the record.
  case conflict(ServerImage)
  /// The server refuses the request for good.
  case refused(code: String, message: String)
}

/// What happens to the engine.
package enum SyncEvent: Sendable, Hashable {
  case start
  case stop
  /// Stops, and deletes what is stored.
  case clear
  /// The store changed its outbox: a local write, or what was rejected with another write.
  case outbox(QueuedWrite)
  /// The feed is established. `resumed`: every change since the stored cursor comes; otherwise changes were missed, and
  /// the feed begins after `cursor`.
  case subscribed(generation: Int, resumed: Bool, cursor: String?)
  /// Changes of one transaction of the server. `cursor` is stored with them.
  case feed(generation: Int, [RemoteChange], cursor: String?, position: Int64)
  /// The server can no longer continue the feed, or the caller sees other records than before (`view-changed`).
  case feedReset(generation: Int, reason: String)
  /// The server's log is not the one that the stored positions come from: it runs on an older copy of its data.
  case otherHistory(generation: Int)
  case disconnected(generation: Int, SyncFailure)
  /// The store could not carry out an action: nothing is followed until the application starts a new engine.
  case storeFailed(SyncFailure)
  /// The server refuses the caller the feed, by its rules or its credentials, and with fresh credentials as well. The
  /// store has removed what came from the server; writes wait until the caller is accepted again.
  case withdrawn(generation: Int)
  case page(generation: Int, model: Int, SyncPage)
  case queryFailed(generation: Int, model: Int, SyncFailure)
  /// The server applied a write. `image` is the record after it; `position` that of its change.
  case uploaded(generation: Int, number: Int64, ServerImage?, position: Int64)
  case uploadFailed(generation: Int, number: Int64, SyncFailure)
  /// The application's answer to a conflict; `newNumber` is given to the write that replaces it.
  case resolved(number: Int64, RecordReplica.Resolution, newNumber: Int64)
  /// The store has carried out `resolve`.
  case settled(number: Int64, Settlement)
  /// A new token was fetched, or could not be.
  case credentials(generation: Int, isRefreshed: Bool)
  /// The network is reachable again.
  case reachable
  /// The time of the last `wake` has come.
  case timer
}

/// What the engine wants done. Actions of the store are carried out in order, each in one transaction.
package enum SyncAction: Sendable, Hashable {
  /// Subscribes to the changes of all models, from the stored cursor if there is one. Ends an earlier subscription.
  case subscribe(generation: Int)
  /// Ends subscription, queries and upload of earlier generations.
  case disconnect
  /// Asks for a page of a model, which need not have more records than `upTo`: so many are left of the most that a sync
  /// may bring. Nil for no limit.
  case query(generation: Int, model: Int, SyncKind, nextToken: String?, upTo: Int?)
  /// Applies a page and stores that it was.
  case applyPage(model: Int, [RemoteChange])
  /// A model's pages are complete: stores its progress. For a full sync, removes the rows whose server image is not
  /// newer than `sweepBefore` and that no page of this sync had.
  case finishModel(model: Int, ModelProgress, sweepBefore: Int64?)
  /// Begins to note which rows the pages of a full sync have.
  case beginFullSync(model: Int)
  /// Applies changes of the feed and stores the cursor.
  case apply([RemoteChange], cursor: String?)
  /// Marks the write as sent, then sends it. A write that is no longer in the store is answered with `removed`.
  case upload(generation: Int, number: Int64)
  case acknowledge(number: Int64, ServerImage?)
  /// Moves a write to the dead letters and rolls its change back.
  case reject(number: Int64, DeadLetter.Reason)
  /// Calls the application's conflict handler, whose answer is `resolved`.
  case askConflict(number: Int64, ServerImage)
  /// Stores the answer to a conflict; a write that is retried is sent under `newNumber`. Then sends `settled`.
  case resolve(number: Int64, RecordReplica.Resolution, ServerImage, newNumber: Int64)
  case refreshCredentials(generation: Int)
  /// Deletes rows, outbox, dead letters and cursors.
  case clearStore
  /// Sends `timer` at this time; replaces the time before.
  case wake(at: Instant)
  /// How far a write is.
  case progress(number: Int64, WriteProgress)
  /// The server had these writes; whether it still has them is not known.
  case abandon([Int64])
  case hub(SyncHubEvent)
}

/// How far a write is on its way.
package enum WriteProgress: Sendable, Hashable {
  case sent
  /// The server has it on disk.
  case durable
  /// The feed has passed it: every later read on this client is of a state that includes it.
  case seen
}

/// What applications can follow; the names are the original's.
package enum SyncHubEvent: Sendable, Hashable {
  case networkStatus(active: Bool)
  case subscriptionsEstablished
  case syncQueriesStarted(models: [Int])
  case modelSynced(model: Int, isFullSync: Bool, added: Int, deleted: Int)
  /// A cap on records was met: the model is not synced.
  case modelTruncated(model: Int, limit: Int)
  case syncQueriesReady
  case syncStarted
  case ready
  case syncReceived(RemoteChange)
  case outboxMutationEnqueued(number: Int64)
  case outboxMutationProcessed(number: Int64)
  case outboxMutationFailed(number: Int64, DeadLetter.Reason)
  case outboxStatus(isEmpty: Bool)
  case conditionalSaveFailed(number: Int64)
  /// An attempt failed and will be repeated.
  case failed(SyncFailure)
  /// The engine has stopped and will not start by itself.
  case terminated(SyncFailure)
}
