import MartletJSON
import MartletServer
import Testing

/// What counts as the value that a client says it replaces.
@Suite(.timeLimit(.minutes(1))) struct ReplacedValueTests {
  private static let schema = """
    type Place { lat: Float lon: Float tags: [String] inner: Inner }
    type Inner { a: Int b: [Float] }
    type Site @model @versioned {
      id: ID! place: Place places: [Place] levels: [Float] level: Float name: String note: String
    }
    """

  private static let selection =
    "place { lat lon tags inner { a b } } places { lat lon tags inner { a b } } levels level name note _version"

  /// What an update must answer.
  private func update(
    _ client: SyncFixture, _ input: JSONObject, replaced: JSONObject, number: Int64
  ) async throws -> JSONValue {
    var input = input
    input["id"] = "a"
    let answer = try await client.send(
      "mutation M($input: UpdateSiteInput!) { updateSite(input: $input) { \(Self.selection) } }",
      ["input": .object(input)], replaced: replaced, number: number)
    #expect(answer["errors"] == nil, "\(answer)")
    return answer["data"]?["updateSite"] ?? .null
  }

  @Test func `a value that a query has shown is what the client replaces, however it was given`() async throws {
    try await SyncFixture.with(Self.schema) { _, client in
      let created = try await client.send(
        """
        mutation { createSite(input: {id: "a", place: {lat: 1, inner: {b: [1, 2]}}, places: [{lat: 1}], levels: [1, 2],
          level: 1}) { \(Self.selection) } }
        """)
      var shown = try #require(created["data"]?["createSite"]?.object)
      shown["_version"] = nil
      #expect(shown["place"]?["lon"] == .null)
      // Another client writes another field: the versions differ.
      _ = try await client.send(#"mutation { updateSite(input: {id: "a", note: "x"}) { id } }"#)
      let changed = try await update(
        client,
        [
          "place": ["lat": 2], "places": [["lat": 3]], "levels": [4], "level": 5, "_version": 1,
        ], replaced: shown, number: 1)
      #expect(changed["place"]?["lat"]?.double == 2)
      #expect(changed["place"]?["inner"] == .null)
      #expect(changed["places"]?.array?.count == 1)
      #expect(changed["places"]?[0]?["lat"]?.double == 3)
      #expect(changed["levels"]?.array?.compactMap(\.double) == [4])
      #expect(changed["level"]?.double == 5)
      #expect(changed["note"] == "x")
    }
  }

  @Test func `an embedded value that holds something else is a conflict, and its lists are joined`() async throws {
    try await SyncFixture.with(Self.schema) { _, client in
      _ = try await client.send(
        #"mutation { createSite(input: {id: "a", place: {lat: 1, tags: ["x"]}, places: [{lat: 1}]}) { id } }"#)
      _ = try await client.send(
        """
        mutation { updateSite(input: {id: "a", place: {lat: 1, lon: 7, tags: ["x", "y"]}, places: [{lat: 1}, {lat: 2}]})
          { id } }
        """)
      let merged = try await update(
        client,
        ["place": ["lat": 9, "tags": ["x", "z"], "inner": ["a": 1]], "places": [["lat": 1], ["lat": 3]]],
        replaced: [
          "place": ["lat": 1.0, "lon": .null, "tags": ["x"], "inner": .null],
          "places": [["lat": 1.0, "lon": .null, "tags": .null, "inner": .null]],
        ], number: 1)
      // No other client has changed the first member, and another one has written the second.
      #expect(merged["place"]?["lat"]?.double == 9)
      #expect(merged["place"]?["lon"]?.double == 7)
      #expect(merged["place"]?["tags"] == ["x", "y", "z"])
      #expect(merged["place"]?["inner"]?["a"] == 1)
      #expect(merged["places"]?.array?.compactMap { $0["lat"]?.double } == [1, 2, 3])
    }
  }

  @Test func `a field without a replaced value is judged by the version`() async throws {
    try await SyncFixture.with(Self.schema) { _, client in
      _ = try await client.send(#"mutation { createSite(input: {id: "a", name: "1", note: "1"}) { id } }"#)
      let taken = try await update(
        client, ["name": "2", "note": "2", "_version": 1], replaced: ["name": "1"], number: 1)
      #expect(taken["name"] == "2" && taken["note"] == "2")
      let kept = try await update(
        client, ["name": "3", "note": "3", "_version": 1], replaced: ["name": "2"], number: 2)
      #expect(kept["name"] == "3" && kept["note"] == "2")
      // Null is a value.
      let null = try await update(client, ["note": "4", "_version": 3], replaced: ["note": .null], number: 3)
      #expect(null["note"] == "2")
    }
  }
}
