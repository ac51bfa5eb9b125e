internal import MartletJSON
internal import MartletJSONTree
internal import MartletTreeClient
internal import MartletTreeWire

/// The values that a service knows, as a text.
struct CacheText {
  /// The version of the text's form.
  private static let version: Int64 = 1

  var values: [(query: TreeClient.Query, value: TreeClient.CachedValue)]

  init(_ values: [(query: TreeClient.Query, value: TreeClient.CachedValue)]) { self.values = values }

  var text: String {
    let list = values.map { query, value -> JSONValue in
      var entry: JSONObject = ["path": .string(query.path.description), "value": value.node.exportedJSON()]
      if let window = WireWindow.json(of: query.window) { entry["window"] = window }
      if let revision = value.revision { entry["revision"] = .string(revision) }
      if let seen = value.seen { entry["seen"] = .int(seen) }
      return .object(entry)
    }
    let json: JSONValue = ["datasyncCache": .int(Self.version), "values": .array(list)]
    return String(decoding: json.serialized(), as: UTF8.self)
  }

  /// Reads a text.
  /// - Throws: `storage` for one that is not of a cache, naming the entry.
  init(_ text: String) throws(DatasyncError) {
    guard let json = try? JSONValue(parsing: text), json["datasyncCache"]?.int == Self.version,
      let list = json["values"]?.array
    else { throw DatasyncError(.storage, "the text is not one of a cache of version \(Self.version)") }
    values = []
    for (place, entry) in list.enumerated() {
      do {
        let path = try TreePath(entry["path"]?.string ?? "")
        let window = try WireWindow.read(entry["window"], at: path, limits: TreeLimits())
        let node = try TreeReader().read(entry["value"] ?? .null, at: path)
        let query = TreeClient.Query(path, window.isUnbounded ? .all : window)
        let (revision, seen) = (entry["revision"]?.string, entry["seen"]?.int)
        values.append((query, TreeClient.CachedValue(node: node, revision: revision, seen: seen)))
      } catch {
        throw DatasyncError(.storage, "the text of a cache: value \(place) cannot be read: \(error)")
      }
    }
  }
}
