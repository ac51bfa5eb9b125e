internal import MartletJSON
internal import MartletModels
internal import MartletSyncEngine

/// Reads the events of `modelChanges`.
struct ChangeReader: Sendable {
  let models: [SyncModel]

  /// A change; nil for one that cannot be read.
  func change(_ json: JSONValue) -> RemoteChange? {
    guard let name = json["model"]?.string, let number = models.firstIndex(where: { $0.name.hasSameBytes(as: name) }),
      let key = json["key"], let version = json["version"]?.int,
      let position = json["position"]?.string.flatMap({ Int64($0) })
    else { return nil }
    let model = models[number]
    func change(_ record: Record?, _ changed: [Int: JSONValue]? = nil) -> RemoteChange {
      RemoteChange(
        model: number, key: model.key(key), image: ServerImage(record: record, version: version, position: position),
        changed: changed)
    }
    switch json["effect"]?.string {
    case "ENTERED": return json["fields"].map { change(model.record($0)) }
    case "STAYED": return json["fields"]?.object.map { change(Record(values: []), model.values($0)) }
    case "LEFT": return change(nil)
    case _: return nil
    }
  }
}
