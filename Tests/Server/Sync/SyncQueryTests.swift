import MartletJSON
import MartletRuntime
import MartletSQLite
import MartletServer
import MartletStore
import Testing

/// `syncXs` as an AppSync DataStore client uses it.
@Suite(.timeLimit(.minutes(1))) struct SyncQueryTests {
  private func ids(_ page: JSONValue) -> [String] { (page["items"]?.array ?? []).compactMap { $0["id"]?.string } }

  @Test func `a base sync has all records with versions, and the next one what has changed since it began`()
    async throws
  {
    try await SyncFixture.with { server, client in
      for id in ["a", "b", "c"] { _ = try await client.done("create", ["id": .string(id), "title": "1"]) }
      let base = try await client.page()
      #expect(ids(base) == ["a", "b", "c"])
      #expect(base["isReplacement"] == true)
      #expect(base["items"]?[0]?["_version"] == 1)
      #expect(base["items"]?[0]?["_deleted"] == .null)
      #expect(base["items"]?[0]?["__typename"] == "Post")
      let startedAt = try #require(base["startedAt"]?.int)
      #expect(base["items"]?[2]?["_lastChangedAt"]?.int == startedAt)
      let updated = try await client.done("update", ["id": "a", "title": "2", "_version": 1])
      #expect(updated["_version"] == 2)
      let deleted = try await client.done("delete", ["id": "b", "_version": 1])
      #expect(deleted["_version"] == 2)
      #expect(deleted["_deleted"] == true)
      _ = try await client.done("create", ["id": "d", "title": "3"])
      _ = try await client.done("delete", ["id": "d"])
      let delta = try await client.page(["lastSync": .int(startedAt)])
      #expect(delta["isReplacement"] == false)
      let items = Dictionary(uniqueKeysWithValues: (delta["items"]?.array ?? []).map { ($0["id"]?.string ?? "", $0) })
      // What was written at the very time the base sync began may come again.
      #expect(Set(items.keys).isSuperset(of: ["a", "b", "d"]))
      #expect(items["a"]?["title"] == "2")
      #expect(items["a"]?["_version"] == 2)
      #expect(items["b"]?["_deleted"] == true)
      #expect(items["b"]?["title"] == "1")
      #expect(items["b"]?["_version"] == 2)
      #expect(items["b"]?["_lastChangedAt"] == deleted["_lastChangedAt"])
      #expect(items["d"]?["_deleted"] == true)
      let later = try await client.page(["lastSync": .int((delta["startedAt"]?.int ?? 0) + 1)])
      #expect(ids(later).isEmpty)
      #expect(later["nextToken"] == .null)
    }
  }

  @Test func `a sync since a time after which the log is damaged has all records`() async throws {
    let folder = try TemporaryFolder()
    try await SyncFixture.with(SyncFixture.schema, { $0.data = .folder(folder.path + "/data") }) { server, client in
      for id in ["a", "b"] { _ = try await client.done("create", ["id": .string(id), "title": "1"]) }
      let startedAt = try #require(try await client.page()["startedAt"]?.int)
      for number in 2...5 { _ = try await client.done("update", ["id": "a", "title": .string("\(number)")]) }
      let store = server.nodes[0].store
      let head = store.position.head
      let database = try Database(path: folder.path + "/data/" + StoreFormat.databaseName)
      try database.execute(
        "UPDATE martlet_log SET entry = (SELECT entry FROM martlet_log WHERE offset = \(head)) WHERE offset = \(head - 2)"
      )
      let page = try await client.page(["lastSync": .int(startedAt)])
      #expect(page["isReplacement"] == true && ids(page) == ["a", "b"])
      #expect(page["items"]?[0]?["title"] == "5")
      #expect(store.damagedOffset == head - 2)
    }
  }

  @Test func `a page passes over as many changes of other models as the limit says, and the next one continues there`()
    async throws
  {
    try await SyncFixture.with(SyncFixture.schema, { $0.limits.query.passedChanges = 10 }) { _, client in
      _ = try await client.done("create", ["id": "a", "title": "1"])
      let startedAt = try #require(try await client.page()["startedAt"]?.int)
      for number in 0..<35 { _ = try await client.done("create", ["id": .string("\(number)")], of: "Strict") }
      _ = try await client.done("create", ["id": "b", "title": "2"])
      var (found, pages, token): ([String], Int, JSONValue) = ([], 0, .null)
      repeat {
        let page = try await client.page(["lastSync": .int(startedAt), "nextToken": token, "limit": 5])
        found += ids(page)
        token = page["nextToken"] ?? .null
        pages += 1
      } while token != .null && pages < 100
      // What was written in the millisecond of the first sync comes again.
      #expect(found.filter { $0 != "a" } == ["b"] && pages >= 3, "\(found) in \(pages) pages")
    }
  }

  @Test func `a page ends where its records come to a mebibyte, whatever limit says, and so do those that follow`()
    async throws
  {
    try await SyncFixture.with { _, server in
      func pages(_ variables: JSONObject = [:]) async throws -> (sizes: [Int], ids: [String]) {
        var (sizes, ids): ([Int], [String]) = ([], [])
        var variables = variables
        variables["limit"] = 1_000
        repeat {
          let page = try await server.page(variables)
          sizes.append(page.description.utf8.count)
          ids += (page["items"]?.array ?? []).map { ($0["_deleted"] == true ? "-" : "") + ($0["id"]?.string ?? "") }
          variables["nextToken"] = page["nextToken"] ?? .null
        } while variables["nextToken"]?.isNull == false && sizes.count < 50
        return (sizes, ids)
      }
      let start = try await server.page()["startedAt"] ?? .null
      let text = String(repeating: "x", count: 300_000)
      let names = (0..<10).map { "p\($0)" }
      for name in names { _ = try await server.done("create", ["id": .string(name), "title": .string(text)]) }
      let base = try await pages()
      #expect(base.ids == names && base.sizes.count == 3 && base.sizes.allSatisfy { $0 < 1_500_000 }, "\(base)")
      let delta = try await pages(["lastSync": start])
      #expect(delta.ids == names && delta.sizes.count == 3 && delta.sizes.allSatisfy { $0 < 1_500_000 }, "\(delta)")
      // A record that changes again and again is one record of a page, and deletions have their images.
      for number in 0..<12 {
        let title = JSONValue.string("\(number)" + text)
        _ = try await server.done("update", ["id": "p0", "title": title])
      }
      let hot = try await pages(["lastSync": start])
      #expect(Set(hot.ids) == Set(names) && hot.ids.count <= 12, "\(hot)")
      for name in names { _ = try await server.done("delete", ["id": .string(name)]) }
      let gone = try await pages()
      #expect(gone.ids == names.map { "-" + $0 } && gone.sizes.allSatisfy { $0 < 1_500_000 }, "\(gone)")
    }
  }

  @Test func `pages have one startedAt, every record once, and cursors that never go back`() async throws {
    try await SyncFixture.with { server, client in
      for number in 0..<7 { _ = try await client.done("create", ["id": .string("p\(number)"), "title": "t"]) }
      var (seen, cursors, starts): ([String], [Int64], Set<Int64>) = ([], [], [])
      var token = JSONValue.null
      repeat {
        let page = try await client.page(["limit": 3, "nextToken": token])
        seen += ids(page)
        starts.insert(page["startedAt"]?.int ?? -1)
        cursors.append(page["cursor"]?.string?.split(separator: "-").last.flatMap { Int64($0) } ?? -1)
        token = page["nextToken"] ?? .null
        _ = try await client.done("update", ["id": "p0", "rating": .int(Int64(cursors.count))])
      } while !token.isNull
      #expect(seen == ["p0", "p1", "p2", "p3", "p4", "p5", "p6"])
      #expect(starts.count == 1)
      #expect(cursors == cursors.sorted())
      let since = JSONValue.int(starts.first ?? 0)
      // A delta in small pages: the same record in each of them at most once.
      token = .null
      var changed: [String] = []
      repeat {
        let page = try await client.page(["limit": 1, "lastSync": since, "nextToken": token])
        #expect(Set(ids(page)).count == ids(page).count)
        changed += ids(page)
        token = page["nextToken"] ?? .null
      } while !token.isNull
      #expect(changed.last == "p0")
      let bad = try await client.send(SyncFixture.sync, ["nextToken": "nonsense"])
      #expect(bad["errors"]?[0]?["extensions"]?["code"] == "INVALID_TOKEN")
    }
  }

  @Test func `a record that leaves the filter is a deletion with the last image that fulfilled it`() async throws {
    try await SyncFixture.with { server, client in
      _ = try await client.done("create", ["id": "a", "title": "x", "rating": 5])
      _ = try await client.done("create", ["id": "b", "title": "x", "rating": 1])
      let filter: JSONValue = ["rating": ["ge": 3]]
      let base = try await client.page(["filter": filter])
      #expect(ids(base) == ["a"])
      _ = try await client.done("update", ["id": "a", "rating": 4])
      _ = try await client.done("update", ["id": "a", "rating": 2])
      _ = try await client.done("update", ["id": "b", "rating": 2])
      let delta = try await client.page(["filter": filter, "lastSync": base["startedAt"] ?? .null])
      #expect(ids(delta) == ["a"])
      #expect(delta["items"]?[0]?["_deleted"] == true)
      #expect(delta["items"]?[0]?["rating"] == 4)
      #expect(delta["items"]?[0]?["_version"] == 3)
      // Amplify asks for what is not deleted: then the pages do not have it.
      let live: JSONValue = ["rating": ["ge": 3], "_deleted": ["ne": true]]
      let quiet = try await client.page(["filter": live, "lastSync": base["startedAt"] ?? .null])
      #expect(ids(quiet).isEmpty)
    }
  }

  @Test func `a client that was away for longer than the log gets all records and the deletions, then a replacement`()
    async throws
  {
    let time = Lock<Int64>(1_700_000_000_000)
    func advance(_ seconds: Int64) { time.withLock { $0 += seconds * 1_000 } }
    let server = try CountedServer(
      schema: SyncFixture.schema, calendar: CountedCalendar(milliseconds: { time.withLock { $0 } })
    ) {
      $0.limits.store.retention = .seconds(100)
      $0.limits.store.tombstoneAge = .seconds(1_000)
    }
    let client = SyncFixture(port: server.port)
    for id in ["a", "b"] { _ = try await client.done("create", ["id": .string(id), "title": "1"]) }
    let base = try await client.page()
    advance(120)
    _ = try await client.done("delete", ["id": "a"])
    advance(120)
    // What has expired is looked for every 64 groups.
    func write(_ name: String) async throws {
      for number in 0..<70 { _ = try await client.done("create", ["id": .string("\(name)\(number)"), "title": "1"]) }
    }
    try await write("n")
    let since = base["startedAt"] ?? .null
    let late = try await client.page(["lastSync": since])
    #expect(late["isReplacement"] == true)
    #expect(ids(late).count == 71)
    #expect(ids(late).first == "b")
    let token = try #require(late["nextToken"]?.string)
    let rest = try await client.page(["nextToken": .string(token)])
    #expect(ids(rest) == ["a"])
    #expect(rest["items"]?[0]?["_deleted"] == true)
    #expect(rest["nextToken"] == .null)
    advance(1_000)
    try await write("z")
    // Deletions are forgotten, too: a client that was away replaces what it has.
    let replaced = try await client.page(["lastSync": since, "limit": 1_000])
    #expect(replaced["isReplacement"] == true)
    #expect(ids(replaced).count == 141)
    #expect(replaced["nextToken"] == .null)
    await server.stop()
  }

  @Test func `a delta has what was written in the millisecond that the last sync began in, and with a clock set back`()
    async throws
  {
    let time = Lock<Int64>(1_700_000_000_000)
    let server = try CountedServer(
      schema: SyncFixture.schema, calendar: CountedCalendar(milliseconds: { time.withLock { $0 } }))
    let client = SyncFixture(port: server.port)
    _ = try await client.done("create", ["id": "a", "title": "1"])
    let base = try await client.page()
    #expect(base["startedAt"] == base["items"]?[0]?["_lastChangedAt"])
    _ = try await client.done("create", ["id": "b", "title": "1"])
    _ = try await client.done("update", ["id": "a", "title": "2"])
    let same = try await client.page(["lastSync": base["startedAt"] ?? .null])
    #expect(Set(ids(same)) == ["a", "b"])
    #expect(same["items"]?.array?.first { $0["id"] == "a" }?["title"] == "2")
    #expect(same["startedAt"] == base["startedAt"])
    time.withLock { $0 -= 3_600_000 }
    _ = try await client.done("create", ["id": "c", "title": "1"])
    _ = try await client.done("delete", ["id": "b"])
    let back = try await client.page(["lastSync": same["startedAt"] ?? .null])
    #expect(Set(ids(back)).isSuperset(of: ["b", "c"]))
    #expect(back["items"]?.array?.first { $0["id"] == "b" }?["_deleted"] == true)
    // The time of a sync never lies before that of one before it.
    #expect((back["startedAt"]?.int ?? 0) >= (same["startedAt"]?.int ?? 0))
    time.withLock { $0 += 7_200_000 }
    _ = try await client.done("create", ["id": "d", "title": "1"])
    #expect(ids(try await client.page(["lastSync": back["startedAt"] ?? .null])).contains("d"))
    let last = try await client.page(["lastSync": .int(1_700_003_600_000)])
    #expect(ids(last) == ["d"])
    await server.stop()
  }

  @Test func `subscriptions, lists and single records show versions`() async throws {
    try await SyncFixture.with { server, client in
      let socket = try await RawSocket.session(port: server.port)
      socket.subscribe("1", "subscription { onUpdatePost { id title _version _deleted _lastChangedAt } }")
      socket.subscribe("2", "subscription { onDeletePost { id _version _deleted } }")
      _ = try await socket.message("ready")
      _ = try await socket.message("ready")
      _ = try await client.done("create", ["id": "a", "title": "1"])
      let updated = try await client.done("update", ["id": "a", "title": "2"])
      let event = try await socket.message("next")["payload"]?["data"]?["onUpdatePost"]
      #expect(
        event == [
          "id": "a", "title": "2", "_version": 2, "_deleted": .null,
          "_lastChangedAt": updated["_lastChangedAt"] ?? .null,
        ])
      let list = try await client.send("{ listPosts { items { _version } } getPost(id: \"a\") { _version } }")
      #expect(list["data"] == ["listPosts": ["items": [["_version": 2]]], "getPost": ["_version": 2]])
      _ = try await client.done("delete", ["id": "a"])
      let last = try await socket.message("next")["payload"]?["data"]?["onDeletePost"]
      #expect(last == ["id": "a", "_version": 3, "_deleted": true])
      socket.abort()
    }
  }
}
