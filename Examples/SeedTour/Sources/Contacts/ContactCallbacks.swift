import MartletDatasync

/// What the original has in JavaScript and Kotlin only.
extension ContactScreen {
  /// Additions and removals, and nothing of a revocation.
  func showAdditionsAndRemovals() -> DatasyncManager {
    let manager = Martlet.defaultApplication.datasyncService.createManager()
    (manager / "contacts")?.subscribe(to: .child(addition: true, removal: true), excludesRevocations: true) { event in
      if event.eventType == .childAddition {
        print("The contact \(event.key) is added, with value \(event.value.decoded(as: Contact.self)?.name ?? "-")")
        print("The data are \(event.acked ? "" : "not yet ")acknowledged")
      } else {
        print("The contact \(event.key) is removed")
      }
    }
    return manager
  }

  /// A callback that is called for acknowledgements too, and for the end.
  func callback(_ name: String) -> DatasyncCallback {
    DatasyncCallback { event in
      print("\(name): \(event.eventType == .childAcknowledgement ? "acknowledged" : "shown") \(event.key)")
    } onCompletion: { completion in
      switch completion {
      case .cancellation: print("\(name): cancelled by this client")
      case .revocation(let reason): print("\(name): revoked by the server, with the cause \(reason.kind)")
      }
    }
  }

  /// Children with the key of the one before.
  func showPlaces() -> DatasyncManager {
    let manager = Martlet.defaultApplication.datasyncService.createManager()
    (manager / "contacts")?.subscribe(to: .child(addition: true, change: true)) { event in
      if event.eventType == .childAddition {
        myView.addItem(name: event.key, value: event.value.decoded(), after: event.previousChildKey)
      } else {
        myView.updateItem(name: event.key, value: event.value.decoded(), after: event.previousChildKey)
      }
    }
    return manager
  }

  /// The value with its acknowledgement, and the end as the last notification.
  func showValue(_ node: DatasyncNode?) -> DatasyncSubscription? {
    node?.subscribe(to: .valueEvent) { event in
      if event.eventType != .valueAcknowledgement { print("The contacts have changed") }
      print("The contacts are \(event.isAcknowledged ? "" : "not yet ")acknowledged")
    } onCompletion: { completion in
      if case .cancellation = completion { print("The subscription was cancelled") }
    }
  }

  /// That the value has changed, without the value.
  func showSignal(_ node: DatasyncNode?) -> DatasyncSubscription? {
    node?.subscribe(to: .value(change: true, withoutData: true)) { event in
      print((try? event.data()) == nil ? "Something has changed" : "The data came along")
    }
  }
}

/// Callbacks with an identity, their end, and events without data.
enum ContactCallbacks: Stop {
  static let title = "Callbacks, and their end"

  static func visit(_ visit: Visit) async throws {
    try await AddressBook.visit(visit, exclude)
    try await AddressBook.visit(visit, unsubscribe)
    try await AddressBook.visit(visit, cancel)
  }

  @MainActor private static func exclude(_ screen: ContactScreen, _ book: AddressBook) async throws {
    try await book.hold(["ada": "Ada"])
    let manager = screen.showAdditionsAndRemovals()
    defer { withExtendedLifetime(manager) {} }
    try await screen.told.wait(for: "The data are acknowledged")
    try await book.remove("ada")
    try await screen.told.wait(for: "The contact ada is removed")
  }

  @MainActor private static func unsubscribe(_ screen: ContactScreen, _ book: AddressBook) async throws {
    let told = screen.told
    try await book.hold(["bob": "Bob"])
    let manager = Martlet.defaultApplication.datasyncService.createManager()
    defer { withExtendedLifetime(manager) {} }
    let contacts = try manager.nodeThrows(for: "contacts")
    let callback = screen.callback("callback")
    let subscription = contacts.subscribe(to: .child(addition: true, removal: true, acknowledgement: true), callback)
    try await subscription.ready()
    try await told.wait(for: "callback: shown bob")
    try contacts.relativeNode(for: "cleo")?.set(Contact(name: "Cleo"))
    try await told.wait(for: "callback: acknowledged cleo")
    contacts.unsubscribe(callback)
    try await told.wait(for: "callback: cancelled by this client")

    let places = screen.showPlaces()
    defer { withExtendedLifetime(places) {} }
    try await told.wait(for: "added: cleo, Cleo, after bob")
    try await book.write("cleo", "Cleopatra")
    try await told.wait(for: "updated: cleo, Cleopatra, after bob")
  }

  @MainActor private static func cancel(_ screen: ContactScreen, _ book: AddressBook) async throws {
    let told = screen.told
    let manager = Martlet.defaultApplication.datasyncService.createManager()
    defer { withExtendedLifetime(manager) {} }
    let value = screen.showValue(manager / "contacts")
    try await told.wait(for: "The contacts are acknowledged")
    value?.cancel()
    try await told.wait(for: "The subscription was cancelled")
    let signal = screen.showSignal(manager / "contacts")
    try await told.wait(for: "Something has changed")
    try await book.write("dora", "Dora")
    try await told.wait(for: "Something has changed", times: 2)
    signal?.cancel()
  }
}
