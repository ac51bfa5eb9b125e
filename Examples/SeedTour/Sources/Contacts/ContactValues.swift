import MartletDatasync

extension ContactScreen {
  func showList() -> DatasyncManager {
    let manager = Martlet.defaultApplication.datasyncService.createManager()
    let contactsNode = manager / "contacts"
    contactsNode?.subscribe(to: .valueChange) { event in
      guard let allContacts: [Contact] = event.value.decoded() else {
        return
      }
      print("The 'contacts' node has \(allContacts.count) child nodes")
    }
    return manager
  }

  func showCount() -> DatasyncManager {
    let app = Martlet.defaultApplication
    let manager = app.datasyncService.createManager()
    let contactsNode = manager / "contacts"
    // Display the count of contacts in real time
    contactsNode?.subscribe(to: .valueChange) { event in
      print("There are now \(event.value.decoded(as: [String: Contact].self)?.count ?? 0) contacts")
    } onCompletion: { completion in
      if case let .revocation(reason: reason) = completion {
        print("Contact watching revoked: \(reason)")
      }
    }
    return manager
  }

  func showAcknowledgement() -> DatasyncManager {
    let app = Martlet.defaultApplication
    let manager = app.datasyncService.createManager()
    let contactsNode = manager / "contacts"
    // Display a message each time the contact list is acknowledged by the back end
    contactsNode?.subscribe(to: .valueEvent) {
      if $0.value.isAcknowledged {
        print("The contact list is acknowledged")
      }
    }
    return manager
  }
}

/// The contacts as a whole: their value at first and after each change, the acknowledgement of one's own changes, and
/// the end when the node has become too large.
enum ContactValues: Stop {
  static let title = "An address book as a whole"

  static func visit(_ visit: Visit) async throws {
    try await AddressBook.visit(visit, follow)
    try await AddressBook.visit(visit, acknowledge)
    try await AddressBook.visit(visit, overflow)
  }

  @MainActor private static func follow(_ screen: ContactScreen, _ book: AddressBook) async throws {
    try await book.hold(["ada": "Ada"])
    let manager = screen.showList()
    // A manager that is let go ends its subscriptions.
    defer { withExtendedLifetime(manager) {} }
    try await screen.told.wait(for: "The 'contacts' node has 1 child nodes")
    try await book.write("bob", "Bob")
    try await screen.told.wait(for: "The 'contacts' node has 2 child nodes")
  }

  @MainActor private static func acknowledge(_ screen: ContactScreen, _ book: AddressBook) async throws {
    let manager = screen.showAcknowledgement()
    defer { withExtendedLifetime(manager) {} }
    try await screen.told.wait(for: "The contact list is acknowledged")
    try manager.node(for: "contacts/eve")?.set(Contact(name: "Eve"))
    try await screen.told.wait(for: "The contact list is acknowledged", times: 2)
  }

  /// Writes more contacts than the tour's server lets a node have.
  @MainActor private static func overflow(_ screen: ContactScreen, _ book: AddressBook) async throws {
    let manager = screen.showCount()
    defer { withExtendedLifetime(manager) {} }
    try await screen.told.wait(for: "There are now 3 contacts")
    try await book.hold(Dictionary(uniqueKeysWithValues: (1...200).map { ("c\($0)", "one of many") }))
    try await screen.told.wait { $0.last?.hasPrefix("Contact watching revoked") == true }
  }
}
