internal import MartletGraphQLStore

/// Records of a client's store in a SQLite file.
enum SQLiteStoreFormat {
  /// The version of the file's layout.
  static let version = 1
  static let anchor = CacheKey("QUERY_ROOT")
}
