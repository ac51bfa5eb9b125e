internal import MartletRuntime
internal import MartletStore

/// The writes of one loop turn. They are handed to the store together when the turn ends, so that they become one
/// group: one commit, and one send per subscriber.
///
/// Confined to its loop.
final class TurnWrites: TurnEnd {
  private let store: Store
  private let loop: any Loop
  private let destination: any StoreDestination
  private var waiting: [StoreSubmission] = []

  init(_ store: Store, on loop: any Loop, _ destination: any StoreDestination) {
    self.store = store
    self.loop = loop
    self.destination = destination
  }

  func add(_ write: StoreSubmission) {
    if waiting.isEmpty { loop.atEndOfTurn(self) }
    waiting.append(write)
  }

  func turnEnded() {
    let writes = waiting
    waiting = []
    store.commit(writes, to: destination)
  }
}
