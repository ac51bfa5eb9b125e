internal import MartletRuntime

/// What a client does with its store, of which it knows no more: programs without `MartletCache` compile none.
package protocol ClientStore: AnyObject, Sendable {
  /// Empties the store: the server shows the caller other data from now on.
  func withdraw()
}

/// Holds a client's store once there is one.
package final class StoreSlot: Sendable {
  private let held = Lock<(any ClientStore)?>(nil)

  /// The store that is held, or the one that `make` returns, which is held from then on.
  package func store<Store: ClientStore>(_ make: () -> Store) -> Store {
    if let store = held.withLock({ $0 }) as? Store { return store }
    let made = make()
    return held.withLock { held in
      // Another thread may have been first.
      if let store = held as? Store { return store }
      held = made
      return made
    }
  }

  package func withdraw() { held.withLock { $0 }?.withdraw() }
}
