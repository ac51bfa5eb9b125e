internal import MartletStore

/// Why an operation of a `DataStore` failed.
public struct DataStoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of failure it is.
  public struct Code: Sendable, Hashable {
    fileprivate enum Kind: String, Sendable, Hashable {
      case notConfigured, invalidModel, invalidQuery, invalidCondition, invalidOperation, constraint, notFound,
        recordMissing, decodingError
      case migration, storage, closed, sync, truncated, unsentWrites
    }
    fileprivate var kind: Kind

    /// `Martlet.DataStore` was used before `Martlet.configure(dataStore:)`.
    public static let notConfigured = Code(kind: .notConfigured)
    /// The model is not one of the store's, or its fields cannot be determined.
    public static let invalidModel = Code(kind: .invalidModel)
    /// The predicate or the order names a field that the model does not have.
    public static let invalidQuery = Code(kind: .invalidQuery)
    /// The condition of a save or delete does not hold for the record as it is stored, or there is none.
    public static let invalidCondition = Code(kind: .invalidCondition)
    /// The operation does not fit the value: an unloaded list was asked for its next page.
    public static let invalidOperation = Code(kind: .invalidOperation)
    /// A relation of the model forbids the write: a required reference is missing, names a record that is not there or
    /// that another one has already, or a record stays while others refer to it.
    public static let constraint = Code(kind: .constraint)
    /// A reference that is required leads to no record.
    public static let notFound = Code(kind: .notFound)
    /// A refused write cannot be made again: the record that it changes is no longer there.
    public static let recordMissing = Code(kind: .recordMissing)
    /// The store that a value was read from is closed.
    public static let closed = Code(kind: .closed)
    /// A stored record does not decode into the model's type.
    public static let decodingError = Code(kind: .decodingError)
    /// The file's models cannot be brought to the present ones: a type or a key changed.
    public static let migration = Code(kind: .migration)
    /// The server cannot be reached or refuses; see `DataStore.events`.
    public static let sync = Code(kind: .sync)
    /// A model has more records at the server than `DataStoreConfiguration.syncMaxRecords`.
    public static let truncated = Code(kind: .truncated)
    /// The store was to be cleared while the server lacks some of its writes.
    public static let unsentWrites = Code(kind: .unsentWrites)
    /// The disk failed or is full, or the file is damaged.
    public static let storage = Code(kind: .storage)
  }

  /// What kind of failure it is.
  public var code: Code
  /// What was wrong, and where.
  public var message: String
  /// What the program can do about it.
  public var recoverySuggestion: String {
    switch code.kind {
    case .notConfigured: "Call Martlet.configure(dataStore:) when the program starts."
    case .invalidModel: "Name the model in DataStore(models:), and declare fieldTypes for fields of unusual types."
    case .invalidQuery: "Use the model's own keys."
    case .invalidCondition: "Read the record again and decide anew."
    case .invalidOperation: "See the message."
    case .constraint: "Save the record that is named first, or write another reference."
    case .notFound: "Use get(), which gives nil then."
    case .recordMissing: "Discard the write, or save the record anew."
    case .decodingError:
      "Make the field optional, give it a default, or have its type decode the values that it does not know."
    case .migration: "Add a field of the new type under another name."
    case .sync: "Nothing has to be done while the store tries again by itself; otherwise call start()."
    case .truncated: "Set syncMaxRecords higher or to nil, or select fewer records by a sync expression."
    case .unsentWrites: "Wait until they are sent, or give clear(discardingPending: true)."
    case .storage, .closed: "See the message."
    }
  }

  /// Message and suggestion.
  public var description: String { "\(message). \(recoverySuggestion)" }

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  init(_ error: StoreError) {
    switch error.code {
    case .conditionFailed: self.init(.invalidCondition, error.message)
    case .migration: self.init(.migration, error.message)
    case .invalid: self.init(.invalidQuery, error.message)
    case .notUnique, .referenced: self.init(.constraint, error.message)
    case .notFound: self.init(.recordMissing, error.message)
    case .versionMismatch, .alreadyExists, .invalidToken, .tooManyRows, .outcomeForgotten, .outcomeUnknown,
      .forbidden, .notAuthority, .aborted, .overloaded, .deadline, .diskFull, .closed, .locked, .noStore, .newerFormat,
      .diverged,
      .damaged, .filesGone, .failed:
      self.init(.storage, error.message)
    }
  }
}
