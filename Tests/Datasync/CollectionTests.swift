import MartletDatasync
import MartletServer
import Testing

/// Children as an ordered collection.
@Suite(.timeLimit(.minutes(1))) struct CollectionTests {
  private struct Person: Codable, Equatable {
    var name: String
    var age: Int
  }

  @Test func `snapshots follow additions, moves, changes and removals, with the state of each item`() async throws {
    try await TreeServing.with { server in
      let writer = TreeServing.application(server).datasyncService.createManager()
      let people = try writer.nodeThrows(for: "/open/people")
      let manager = TreeServing.application(server).datasyncService.createManager()
      let window = DatasyncWindow(by: .child("age")).last(3)
      var snapshots = try manager.nodeThrows(for: "/open/people")
        .collection(of: Person.self, window: window).makeAsyncIterator()
      /// The first snapshot with these keys.
      func next(_ keys: [String]) async throws -> DatasyncSnapshot<Person> {
        while let snapshot = try await snapshots.next() {
          if snapshot.entries.map(\.key) == keys { return snapshot }
        }
        throw CancellationError()
      }
      let empty = try await next([])
      #expect(empty.difference.isEmpty && empty.changedKeys.isEmpty)
      try await people.set([
        "ada": Person(name: "Ada", age: 36), "bob": Person(name: "Bob", age: 20), "eve": Person(name: "Eve", age: 28),
      ]).acknowledged()
      let first = try await next(["bob", "eve", "ada"])
      #expect(first.items.map(\.name) == ["Bob", "Eve", "Ada"])
      let areAccepted = first.entries.allSatisfy { $0.isAcknowledged }
      #expect(areAccepted)
      try await (people / "bob/age")?.set(40).acknowledged()
      let moved = try await next(["eve", "ada", "bob"])
      #expect(moved.changedKeys == ["bob"])
      #expect(moved.difference.inferringMoves().insertions.count == 1)
      #expect(moved.items.last == Person(name: "Bob", age: 40))
      try await (people / "zoe")?.set(Person(name: "Zoe", age: 50)).acknowledged()
      #expect(try await next(["ada", "bob", "zoe"]).items.map(\.age) == [36, 40, 50])
      try await (people / "zoe")?.clear().acknowledged()
      #expect(try await next(["eve", "ada", "bob"]).items.count == 3)
      // A value of another shape is there, and is not an item.
      try await (people / "eve")?.set(["age": 29]).acknowledged()
      while let snapshot = try await snapshots.next() {
        if snapshot.entries.first?.item == nil {
          #expect(snapshot.entries.first?.value["age"].asInt == 29)
          #expect(snapshot.items.count == 2)
          break
        }
      }
    }
  }

  @Test func `an item that the server has not accepted says so, and then that it is accepted`() async throws {
    try await TreeServing.with { server in
      let application = TreeServing.application(server)
      let node = try application.datasyncService.createManager().nodeThrows(for: "/open/list")
      var snapshots = try node.collection(of: Int.self).makeAsyncIterator()
      #expect(try await snapshots.next()?.entries.isEmpty == true)
      application.datasyncService.isConnectionEnabled = false
      try (node / "a")?.set(1)
      let pending = try #require(try await snapshots.next())
      #expect(pending.items == [1])
      #expect(pending.entries.first?.isAcknowledged == false)
      application.datasyncService.isConnectionEnabled = true
      let accepted = try #require(try await snapshots.next())
      #expect(accepted.entries.first?.isAcknowledged == true)
      #expect(accepted.changedKeys == ["a"] && accepted.difference.isEmpty)
    }
  }
}
