import MartletServer

/// A server with a synced tree in which every caller may read and known ones may write.
enum ServeTree {
  static func configuration() -> ServerConfiguration {
    var configuration = ServerConfiguration(schema: "type Room @model { id: ID! title: String }")
    configuration.access = .development
    configuration.treeRules = #"{"rules": {"rooms": {".read": true, ".write": "auth != null"}}}"#
    return configuration
  }
}
