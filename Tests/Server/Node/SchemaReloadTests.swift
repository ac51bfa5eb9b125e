import Foundation
import MartletJSON
import MartletRuntime
import MartletServer
import Testing

/// Another schema while the server runs.
@Suite(.timeLimit(.minutes(2))) struct SchemaReloadTests {
  private static let before = """
    type Note @model { id: ID! text: String place: Int }
    type Zebra @model { id: ID! stripes: Int }
    type Subscription { heard: Message }
    type Message { room: String }
    """
  /// Models and fields added in front, in the middle and at the end: positions in the text change.
  private static let after = """
    type Apple @model { id: ID! kind: String notes: [Note] @hasMany }
    type Note @model { color: String! @default(value: "red") id: ID! stars: Int text: String place: Int @index(name: "byPlace", queryField: "notesByPlace") extra: String }
    type Middle @model { id: ID! }
    type Zebra @model { id: ID! name: String stripes: Int }
    type Subscription { heard: Message }
    type Message { floor: String }
    """

  private static func with(
    _ adjust: (inout ServerConfiguration) throws -> Void = { _ in }, _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      before,
      {
        $0.topics = ["heard": "messages"]
        $0.loops = 2
        try adjust(&$0)
      }, body)
  }

  private static func create(_ number: Int, _ server: GraphQLServer) async throws {
    let answer = try await HTTPRequest.graphql(
      #"mutation { createNote(input: {text: "\#(number)", place: \#(number % 2)}) { id } }"#, port: server.port)
    #expect(answer.json["data"]?["createNote"]?["id"] != nil, "\(answer.text)")
  }

  @Test func `subscriptions under load lose and repeat nothing while models and fields are added in the middle`()
    async throws
  {
    try await Self.with { server in
      var sockets: [RawSocket] = []
      for _ in 0..<4 { sockets.append(try await RawSocket.session(port: server.port)) }
      let all = sockets[0]
      let filtered = sockets[1]
      let updates = sockets[2]
      let slow = sockets[3]
      all.subscribe("1", "subscription { onCreateNote { text place } }")
      filtered.subscribe("1", "subscription { onCreateNote(filter: {place: {eq: 1}}) { text } }")
      updates.subscribe("1", "subscription { onCreateZebra { stripes } }")
      slow.subscribe("1", "subscription { onCreateNote { text id } }")
      var cursor = ""
      for socket in sockets { cursor = try await socket.message("ready")["cursor"]?.string ?? cursor }
      slow.setReading(false)
      let writes = 300
      async let writing: Void = {
        for number in 0..<writes { try await Self.create(number, server) }
      }()
      try await Self.create(-1, server)
      try await server.reload(schema: Self.after)
      try await writing
      slow.setReading(true)
      for (socket, expected) in [(all, 0..<writes), (slow, 0..<writes)] {
        var seen: [Int] = []
        while seen.count < expected.count + 1 {
          let data = try await socket.message("next")["payload"]?["data"]?["onCreateNote"]
          seen.append(Int(data?["text"]?.string ?? "") ?? -2)
        }
        #expect(seen.filter { $0 >= 0 } == Array(expected), "in order, once each")
        #expect(seen.count { $0 == -1 } == 1)
      }
      var odd: [Int] = []
      while odd.count < writes / 2 {
        let number = Int(try await filtered.message("next")["payload"]?["data"]?["onCreateNote"]?["text"]?.string ?? "")
        if let number, number >= 0 { odd.append(number) }
      }
      #expect(odd == stride(from: 1, to: writes, by: 2).map { $0 })
      let zebra = try await HTTPRequest.graphql(
        #"mutation { createZebra(input: {stripes: 7, name: "z"}) { name stripes } }"#, port: server.port)
      #expect(zebra.json["data"]?["createZebra"] == ["name": "z", "stripes": 7])
      #expect(try await updates.message("next")["payload"]?["data"]?["onCreateZebra"]?["stripes"] == 7)
      // A client that returns with its old cursor and asks for a new field gets everything, with the default.
      let back = try await RawSocket.session(port: server.port)
      back.subscribe("1", "subscription { onCreateNote { color text } }", resume: cursor)
      _ = try await back.message("ready")
      for socket in sockets + [back] { socket.abort() }
      let list = try await HTTPRequest.graphql(
        "{ notesByPlace(place: 1, limit: 1000) { items { color text } } }", port: server.port)
      #expect(list.json["data"]?["notesByPlace"]?["items"]?[0]?["color"] == "red", "\(list.text.prefix(300))")
    }
  }

  @Test func `events from before the reload reach a subscription from after it, with defaults in the added fields`()
    async throws
  {
    try await Self.with { server in
      let socket = try await RawSocket.session(port: server.port)
      socket.subscribe("1", "subscription { onCreateNote { text } }")
      let cursor = try await socket.message("ready")["cursor"]?.string ?? ""
      for number in 0..<3 { try await Self.create(number, server) }
      try await server.reload(schema: Self.after)
      for number in 3..<6 { try await Self.create(number, server) }
      let back = try await RawSocket.session(port: server.port)
      back.subscribe("1", "subscription { onCreateNote { color text stars place } }", resume: cursor)
      for number in 0..<6 {
        let data = try await back.message("next")["payload"]?["data"]?["onCreateNote"]
        #expect(
          data == ["color": "red", "text": .string("\(number)"), "stars": .null, "place": .int(Int64(number % 2))])
      }
      socket.abort()
      back.abort()
    }
  }

  @Test func `a subscription that is not valid under the new schema ends with a reason, its neighbours continue`()
    async throws
  {
    try await Self.with { server in
      let socket = try await RawSocket.session(port: server.port)
      socket.subscribe("lost", "subscription { heard { room } }")
      _ = try await socket.message("ready")
      socket.subscribe("kept", "subscription { onCreateNote { text } }")
      _ = try await socket.message("ready")
      try await server.reload(schema: Self.after)
      let ended = try await socket.message("error")
      #expect(ended["id"] == "lost")
      #expect(ended["payload"]?[0]?["extensions"]?["code"] == "SCHEMA_CHANGED")
      try await Self.create(1, server)
      #expect(try await socket.message("next")["id"] == "kept")
      socket.subscribe("new", "subscription { heard { floor } }")
      _ = try await socket.message("ready")
      try await server.publish(topic: "messages", payload: ["floor": "2"])
      #expect(try await socket.message("next")["payload"]?["data"]?["heard"]?["floor"] == "2")
      socket.abort()
    }
  }

  @Test func `under load a subscription that is no longer valid ends with a reason, after its events and once`()
    async throws
  {
    try await Self.with { server in
      var sockets: [RawSocket] = []
      for _ in 0..<3 {
        let socket = try await RawSocket.session(port: server.port)
        socket.subscribe("lost", "subscription { heard { room } }")
        _ = try await socket.message("ready")
        socket.subscribe("kept", "subscription { onCreateNote { text } }")
        _ = try await socket.message("ready")
        sockets.append(socket)
      }
      let writes = 120
      let (reloads, reloaded) = AsyncStream.makeStream(of: Void.self)
      async let writing: Void = {
        for number in 0..<writes {
          // The second half is written under the new schema, however fast this task is.
          if number == writes / 2 { for await _ in reloads { break } }
          try await server.publish(topic: "messages", payload: ["room": .string("\(number)")])
          try await Self.create(number, server)
        }
      }()
      var created = 0
      var heard: [[String]] = [[], [], []]
      var ends = [0, 0, 0]
      func read(_ index: Int) async throws {
        let message = try await sockets[index].message()
        switch (message["id"]?.string, message["type"]?.string) {
        case ("kept", "next"):
          #expect(message["payload"]?["data"]?["onCreateNote"]?["text"] == .string("\(created)"))
          created += 1
        case ("lost", "next"):
          #expect(ends[index] == 0, "an event after the end")
          heard[index].append(message["payload"]?["data"]?["heard"]?["room"]?.string ?? "\(message)")
        case ("lost", "error"):
          #expect(message["payload"]?[0]?["extensions"]?["code"] == "SCHEMA_CHANGED")
          ends[index] += 1
        default: break
        }
      }
      // The load is under way on the first socket; then the schema changes in the middle of it.
      while created < 10 { try await read(0) }
      try await server.reload(schema: Self.after)
      reloaded.yield()
      for index in sockets.indices {
        if index > 0 { created = 0 }
        while created < writes || ends[index] == 0 { try await read(index) }
      }
      try await writing
      #expect(ends == [1, 1, 1])
      for rooms in heard {
        #expect((10...(writes / 2)).contains(rooms.count))
        #expect(rooms == (0..<rooms.count).map(String.init), "in order, once each, up to the end")
      }
      for socket in sockets { socket.abort() }
    }
  }

  private static let refused: [(String, ServerError.Code, String)] = [
    ("type Note @model { id: ID! text: String } type Zebra @model { id: ID! stripes: Int }", .schema, "Note.place"),
    ("type Note @model { id: ID! text: String place: Int }", .schema, "Zebra"),
    (before.replacingOccurrences(of: "place: Int", with: "place: String"), .data, "place"),
    (before.replacingOccurrences(of: "place: Int", with: "place: Int must: Int!"), .data, "must"),
    (before.appending(" type Query { nothing: Int }"), .schema, "nothing"),
    ("type Note @model {", .schema, "1"),
  ]

  @Test(arguments: refused) func `a schema that cannot follow is refused by name, and the old one is served on`(
    schema: String, code: ServerError.Code, word: String
  ) async throws {
    try await Self.with { server in
      try await Self.create(1, server)
      let error = await #expect(throws: ServerError.self) { try await server.reload(schema: schema) }
      #expect(error?.code == code && error?.description.contains(word) == true, "\(error?.description ?? "")")
      try await Self.create(2, server)
      let list = try await HTTPRequest.graphql("{ listNotes { items { text place } } }", port: server.port)
      #expect(list.json["data"]?["listNotes"]?["items"]?.array?.count == 2)
      try await server.reload(schema: Self.after)
      let added = try await HTTPRequest.graphql("{ listNotes { items { color } } }", port: server.port)
      #expect(added.json["data"]?["listNotes"]?["items"] == [["color": "red"], ["color": "red"]])
    }
  }
}
