import MartletDatasync

extension ContactScreen {
  func showAdditions() -> DatasyncManager {
    let app = Martlet.defaultApplication
    let manager = app.datasyncService.createManager()
    let contactsNode = manager / "contacts"
    // Update a GUI in real-time each time a new contact is added
    contactsNode?.subscribe(to: .childAddition) { event in
      myView.addItem(name: event.key, value: event.value.decoded())
    } onCompletion: { completion in
      if case let .revocation(reason: reason) = completion {
        print("Contact watching revoked: \(reason)")
      }
    }
    return manager
  }

  func showChanges() -> DatasyncManager {
    let app = Martlet.defaultApplication
    let manager = app.datasyncService.createManager()
    let contactsNode = manager / "contacts"
    // Update a GUI in real-time each time a contact is changed
    contactsNode?.subscribe(to: .childChange) { event in
      myView.updateItem(name: event.key, value: event.value.decoded())
    } onCompletion: { completion in
      if case let .revocation(reason: reason) = completion {
        print("Contact watching revoked: \(reason)")
      }
    }
    return manager
  }

  func showRemovals() -> DatasyncManager {
    let app = Martlet.defaultApplication
    let manager = app.datasyncService.createManager()
    let contactsNode = manager / "contacts"
    // Update a GUI in real-time each time a contact is removed
    contactsNode?.subscribe(to: .childRemoval) { event in
      myView.deleteItem(name: event.key)
    } onCompletion: { completion in
      if case let .revocation(reason: reason) = completion {
        print("Contact watching revoked: \(reason)")
      }
    }
    return manager
  }

  func showBook() -> DatasyncManager {
    let app = Martlet.defaultApplication
    let manager = app.datasyncService.createManager()
    let contactsNode = manager / "contacts"
    // Update a GUI in real-time each time the list of contacts is updated
    contactsNode?.subscribe(to: .childEvent) { event in
      switch event.eventType {
      case .childAddition:
        myView.addItem(name: event.key, value: event.value.decoded())
      case .childChange:
        myView.updateItem(name: event.key, value: event.value.decoded())
      case .childRemoval:
        myView.deleteItem(name: event.key)  // mark the item removed without deleting it
      case .childAcknowledgement:
        break  // acknowledgements of children do nothing here
      default:
        break  // other events are not subscribed
      }
      // darken, lighten or delete the item depending on its acknowledged and removed statuses
      myView.markItem(name: event.key, isAcknowledged: event.value.isAcknowledged)
    } onCompletion: { completion in
      if case let .revocation(reason: reason) = completion {
        print("Contact watching revoked: \(reason)")
      }
    }
    return manager
  }
}

/// The contacts one by one: additions, changes and removals, each by itself and all together.
enum ContactChildren: Stop {
  static let title = "An address book, contact by contact"

  static func visit(_ visit: Visit) async throws {
    try await AddressBook.visit(visit, followEach)
    visit.told.tell("-")
    try await AddressBook.visit(visit, followAll)
  }

  @MainActor private static func followEach(_ screen: ContactScreen, _ book: AddressBook) async throws {
    try await book.hold(["ada": "Ada"])
    let managers = [screen.showAdditions(), screen.showChanges(), screen.showRemovals()]
    defer { withExtendedLifetime(managers) {} }
    try await screen.told.wait(for: "added: ada, Ada")
    try await book.write("ada", "Ada L.")
    try await screen.told.wait(for: "updated: ada, Ada L.")
    try await book.remove("ada")
    try await screen.told.wait(for: "deleted: ada")
  }

  @MainActor private static func followAll(_ screen: ContactScreen, _ book: AddressBook) async throws {
    try await book.hold(["bob": "Bob"])
    let manager = screen.showBook()
    defer { withExtendedLifetime(manager) {} }
    try await screen.told.wait(for: "bob is acknowledged")
    // Its own change is shown at once, and marked when the server has it.
    try manager.node(for: "contacts/bob")?.clear()
    try await screen.told.wait(for: "bob is acknowledged", times: 2)
  }
}
