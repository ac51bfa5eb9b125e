import MartletDataStore

/// One line about the sync for a status bar, now and after each change.
enum SyncLine {
  static func follow(_ store: DataStore, _ show: @Sendable (String) -> Bool) async {
    for await status in store.syncStatuses {
      guard show(line(status)) else { return }
    }
  }

  static func line(_ status: DataStoreSyncStatus) -> String {
    if status.isSettled { return "Everything is saved on the server." }
    if !status.isConnected { return "Offline; \(status.pendingCount) changes wait." }
    if !status.isSynced {
      return "Loading: " + status.models.filter { !$0.value.isSynced }.keys.sorted().joined(separator: ", ")
    }
    return "Sending \(status.pendingCount) changes."
  }
}
