import Martlet
import MartletServer

/// Fills airlines, airports and planes on the server's side; what is there stays as it is.
enum TableLoader {
  static func load(_ files: DataFiles, into server: GraphQLServer) async throws {
    let airlines = try files.table("airlines").rows.compactMap { row -> JSONObject? in
      guard let carrier = row["carrier"], let name = row["name"] else { return nil }
      return ["carrier": .string(carrier), "name": .string(name)]
    }
    let airports = try files.table("airports").rows.compactMap { row -> JSONObject? in
      guard let code = row["faa"], let name = row["name"] else { return nil }
      return [
        "faa": .string(code), "name": .string(name), "latitude": row.number("lat").map { .double($0) } ?? .null,
        "longitude": row.number("lon").map { .double($0) } ?? .null, "altitude": integer(row, "alt"),
        "timeZone": text(row, "tzone"),
      ]
    }
    let planes = try files.table("planes").rows.compactMap { row -> JSONObject? in
      guard let tailNumber = row["tailnum"] else { return nil }
      return [
        "tailNumber": .string(tailNumber), "year": integer(row, "year"), "type": text(row, "type"),
        "manufacturer": text(row, "manufacturer"), "model": text(row, "model"), "engines": integer(row, "engines"),
        "seats": integer(row, "seats"), "engine": text(row, "engine"),
      ]
    }
    try await fill("Airline", key: "carrier", airlines, in: server)
    try await fill("Airport", key: "faa", airports, in: server)
    try await fill("Plane", key: "tailNumber", planes, in: server)
  }

  /// Adds the records that are not there, in transactions short enough to leave the writer to others in between.
  private static func fill(_ model: String, key: String, _ records: [JSONObject], in server: GraphQLServer) async throws
  {
    for start in stride(from: 0, to: records.count, by: 100) {
      let part = records[start..<min(start + 100, records.count)]
      try await server.transaction { transaction in
        for record in part where try transaction.get(model, [key: record[key] ?? .null]) == nil {
          try transaction.create(model, record)
        }
      }
    }
  }

  private static func text(_ row: CSV.Row, _ column: String) -> JSONValue { row[column].map { .string($0) } ?? .null }

  private static func integer(_ row: CSV.Row, _ column: String) -> JSONValue {
    row.integer(column).map { .int(Int64($0)) } ?? .null
  }
}
