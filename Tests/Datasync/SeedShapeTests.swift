import MartletDatasync
import MartletServer
import Testing

/// The Swift samples of the original's guide for notifications, written anew, after the renames of
/// docs/COMPATIBILITY.md and nothing else. They run in one program, in their order.
@Suite(.serialized) @MainActor struct SeedShapeTests {
  /// A list of contacts on a screen.
  @MainActor final class ContactView {
    let transcript = Transcript()
    func addItem(name: String, value: Contact?) { transcript.add("add \(name) \(value?.name ?? "-")") }
    func updateItem(name: String, value: Contact?) { transcript.add("update \(name) \(value?.name ?? "-")") }
    func deleteItem(name: String) { transcript.add("delete \(name)") }
    func markItem(name: String, isAcknowledged: Bool) { transcript.add("mark \(name) \(isAcknowledged)") }
  }

  private func run(_ body: @MainActor (ContactView, DatasyncNode) async throws -> Void) async throws {
    try await TreeServing.with(rules: #"{"rules": {"contacts": {".read": true, ".write": true}}}"#) { server in
      let writer = try TreeServing.application(server).datasyncService.createManager().nodeThrows(for: "contacts")
      try await writer.set(["ada": Contact(name: "Ada")]).acknowledged()
      try await Martlet.withApplication(TreeServing.application(server)) { try await body(ContactView(), writer) }
    }
  }

  @Test func `a node's value is decoded as a list`() async throws {
    try await run { view, writer in
      let manager = Martlet.defaultApplication.datasyncService.createManager()
      let contactsNode = manager / "contacts"
      contactsNode?.subscribe(to: .valueChange) { event in
        guard let allContacts: [Contact] = event.value.decoded() else {
          return
        }
        view.transcript.add("The 'contacts' node has \(allContacts.count) child nodes")
      }
      #expect(await view.transcript.wait(1) == ["The 'contacts' node has 1 child nodes"])
    }
  }

  @Test func `a node's value is decoded by keys, and its revocation has a reason`() async throws {
    try await run { view, _ in
      let app = Martlet.defaultApplication
      let manager = app.datasyncService.createManager()
      let contactsNode = manager / "contacts"
      contactsNode?.subscribe(to: .valueChange) { event in
        view.transcript.add("There are now \(event.value.decoded(as: [String: Contact].self)?.count ?? 0) contacts")
      } onCompletion: { completion in
        if case let .revocation(reason: reason) = completion {
          view.transcript.add("Contact watching revoked: \(reason)")
        }
      }
      let secretNode = manager / "secret"
      secretNode?.subscribe(to: .valueEvent) { _ in
      } onCompletion: { completion in
        if case let .revocation(reason: reason) = completion {
          view.transcript.add("Contact watching revoked: \(reason)")
        }
      }
      let lines = await view.transcript.wait(2)
      #expect(lines.contains("There are now 1 contacts"))
      #expect(lines.contains { $0.hasPrefix("Contact watching revoked: permission_denied") })
    }
  }

  @Test func `a value's acknowledgement follows`() async throws {
    try await run { view, _ in
      let app = Martlet.defaultApplication
      let manager = app.datasyncService.createManager()
      let contactsNode = manager / "contacts"
      contactsNode?.subscribe(to: .valueEvent) {
        view.transcript.add($0.value.isAcknowledged ? "The contact list is acknowledged" : "not yet")
      }
      _ = await view.transcript.wait(1)
      try (contactsNode / "bob")?.set(Contact(name: "Bob"))
      #expect(
        await view.transcript.wait(3)
          == ["The contact list is acknowledged", "not yet", "The contact list is acknowledged"])
    }
  }

  @Test func `additions, changes and removals, each by itself`() async throws {
    try await run { view, writer in
      let app = Martlet.defaultApplication
      let manager = app.datasyncService.createManager()
      let contactsNode = manager / "contacts"
      contactsNode?.subscribe(to: .childAddition) { event in
        view.addItem(name: event.key, value: event.value.decoded())
      } onCompletion: { completion in
        if case let .revocation(reason: reason) = completion {
          print("Contact watching revoked: \(reason)")
        }
      }
      contactsNode?.subscribe(to: .childChange) { event in
        view.updateItem(name: event.key, value: event.value.decoded())
      }
      contactsNode?.subscribe(to: .childRemoval) { event in
        view.deleteItem(name: event.key)
      }
      _ = await view.transcript.wait(1)
      try await (writer / "ada")?.set(Contact(name: "Ada L.")).acknowledged()
      _ = await view.transcript.wait(2)
      try await (writer / "ada")?.clear().acknowledged()
      #expect(await view.transcript.wait(3) == ["add ada Ada", "update ada Ada L.", "delete ada"])
    }
  }

  @Test func `all kinds together mark each item`() async throws {
    try await run { view, _ in
      let app = Martlet.defaultApplication
      let manager = app.datasyncService.createManager()
      let contactsNode = manager / "contacts"
      contactsNode?.subscribe(to: .childEvent) { event in
        switch event.eventType {
        case .childAddition:
          view.addItem(name: event.key, value: event.value.decoded())
        case .childChange:
          view.updateItem(name: event.key, value: event.value.decoded())
        case .childRemoval:
          view.deleteItem(name: event.key)
        case .childAcknowledgement:
          break
        default:
          break
        }
        view.markItem(name: event.key, isAcknowledged: event.value.isAcknowledged)
      } onCompletion: { completion in
        if case let .revocation(reason: reason) = completion {
          print("Contact watching revoked: \(reason)")
        }
      }
      _ = await view.transcript.wait(2)
      try (contactsNode / "ada")?.clear()
      #expect(
        await view.transcript.wait(5)
          == ["add ada Ada", "mark ada true", "delete ada", "mark ada false", "mark ada true"])
    }
  }
}

private func / (node: DatasyncNode?, path: String) -> DatasyncNode? { node?.relativeNode(for: path) }
