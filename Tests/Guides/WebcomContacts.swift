import MartletDatasync

/// A screen of contacts, as an app had it on Webcom.
final class WebcomContacts: Sendable {
  struct Contact: Codable, Sendable {
    var name: String
  }

  private let manager: DatasyncManager

  init(_ application: MartletApplication) {
    manager = application.datasyncService.createManager()
  }

  /// Calls `show` with the contacts now and after each change; the subscription ends with this object.
  @MainActor func subscribe(_ show: @escaping @MainActor ([String: Contact], _ isSaved: Bool) -> Void) {
    let contacts = manager / "contacts"
    contacts?.subscribe(to: .valueEvent) { event in
      if let contacts = event.value.decoded(as: [String: Contact].self) {
        show(contacts, event.value.isAcknowledged)
      }
    } onCompletion: { completion in
      if case .revocation(let reason) = completion { print("No longer shown: \(reason)") }
    }
  }

  /// Adds a contact; it is shown at once.
  func add(_ contact: Contact) throws { try (manager / "contacts")?.push(contact) }
}
