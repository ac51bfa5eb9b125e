import MartletServer

/// The guide's resolver that refuses with an error for the client.
enum FindStation {
  static let stations: [String: JSONObject] = ["roof": ["celsius": 21.5]]

  static func attach(to resolvers: inout Resolvers) {
    let stations = stations
    resolvers.resolve("Query", "station") { request in
      guard let station = stations[request.string("id") ?? ""] else {
        throw ResolverError("There is no such station.", extensions: ["code": "NOT_FOUND"])
      }
      return JSONValue.object(station)
    }
  }
}
