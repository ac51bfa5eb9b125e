import Foundation
import MartletDatasync

/// An entry of an address book.
struct Contact: Codable {
  var name: String
}

/// A list of contacts on a screen; what it shows is written to the transcript.
@MainActor final class ContactView {
  private let told: Transcript

  init(_ told: Transcript) { self.told = told }

  func addItem(name: String, value: Contact?) { told.tell("added: \(name), \(value?.name ?? "-")") }

  func addItem(name: String, value: Contact?, after previous: String?) {
    told.tell("added: \(name), \(value?.name ?? "-"), after \(previous ?? "nothing")")
  }

  func updateItem(name: String, value: Contact?) { told.tell("updated: \(name), \(value?.name ?? "-")") }

  func updateItem(name: String, value: Contact?, after previous: String?) {
    told.tell("updated: \(name), \(value?.name ?? "-"), after \(previous ?? "nothing")")
  }

  func deleteItem(name: String) { told.tell("deleted: \(name)") }

  func markItem(name: String, isAcknowledged: Bool) {
    told.tell("\(name) is \(isAcknowledged ? "acknowledged" : "not yet acknowledged")")
  }
}

/// What follows the contacts on one screen. Its `print` writes to the transcript, so that the samples read as they do
/// elsewhere.
@MainActor struct ContactScreen {
  let told: Transcript
  let myView: ContactView

  init(_ told: Transcript) {
    self.told = told
    myView = ContactView(told)
  }

  func print(_ line: String) { told.tell(line) }
}

/// The address book as another client writes it.
struct AddressBook {
  private let contacts: DatasyncNode

  /// - Throws: when the server cannot be named.
  init(_ server: ServeProcess) throws {
    contacts = try Self.application(server).datasyncService.createManager().nodeThrows(for: "contacts")
  }

  /// An application of the tour's server.
  static func application(_ server: ServeProcess) -> MartletApplication {
    MartletApplication(configuration: DatasyncConfiguration(url: "ws://127.0.0.1:\(server.url.port ?? 0)"))
  }

  /// Returns when the server has them, and no others.
  func hold(_ names: [String: String]) async throws {
    try await contacts.set(names.mapValues { Contact(name: $0) }).acknowledged()
  }

  func write(_ key: String, _ name: String) async throws {
    try await contacts.relativeNode(for: key)?.set(Contact(name: name)).acknowledged()
  }

  func remove(_ key: String) async throws {
    try await contacts.relativeNode(for: key)?.clear().acknowledged()
  }

  /// Runs `body` as an application of its own, which ends with it.
  @MainActor static func visit(
    _ visit: Visit, _ body: @MainActor (ContactScreen, AddressBook) async throws -> Void
  ) async throws {
    let application = application(visit.server)
    try await Martlet.withApplication(application) {
      try await body(ContactScreen(visit.told), try AddressBook(visit.server))
    }
    application.datasyncService.shutDown()
  }
}
