import Martlet
import MartletServer

/// Fills airports, airlines and planes, in one transaction on the server's side. Does nothing when they are there.
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
    guard let first = airlines.first, let code = first["carrier"] else { return }
    try await server.transaction { transaction in
      // All or nothing: where the first airline is, everything is.
      guard try transaction.get("Airline", ["carrier": code]) == nil else { return }
      for airline in airlines { try transaction.create("Airline", airline) }
      for airport in airports { try transaction.create("Airport", airport) }
      for plane in planes { try transaction.create("Plane", plane) }
    }
  }

  private static func text(_ row: CSV.Row, _ column: String) -> JSONValue { row[column].map { .string($0) } ?? .null }

  private static func integer(_ row: CSV.Row, _ column: String) -> JSONValue {
    row.integer(column).map { .int(Int64($0)) } ?? .null
  }
}
