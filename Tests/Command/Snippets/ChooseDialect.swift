import Martlet

/// The Swift of the guides to the older WebSocket dialects.
enum ChooseDialect {
  static func older() -> ConnectionConfiguration {
    var configuration = ConnectionConfiguration()
    configuration.dialect = .graphqlWS
    return configuration
  }

  static func appSync() -> ConnectionConfiguration {
    var configuration = ConnectionConfiguration()
    configuration.dialect = .appSync
    configuration.appSync.authorization = ["x-api-key": "da2-0123456789"]
    return configuration
  }
}
