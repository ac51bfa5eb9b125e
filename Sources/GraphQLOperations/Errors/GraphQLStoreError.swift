/// Why the store refused something.
public struct GraphQLStoreError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it was. New kinds may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Kind: String {
      case invalidDocument, unknownOperation, unexpectedData, tooDeep, insideTransaction, backend, missingData
      case invalidFile, invalidSchema
    }
    private let kind: Kind
    private init(_ kind: Kind) { self.kind = kind }

    /// The document is not GraphQL, or uses a fragment it does not define.
    public static let invalidDocument = Code(.invalidDocument)
    /// The document has no operation of that name, or several and no name was given.
    public static let unknownOperation = Code(.unknownOperation)
    /// Data that do not fit the document: an object where the document has a leaf, or the other way round.
    public static let unexpectedData = Code(.unexpectedData)
    /// Selections are nested more deeply than the limit allows, or without end.
    public static let tooDeep = Code(.tooDeep)
    /// The store was called from inside one of its own transactions; use the transaction's methods there.
    public static let insideTransaction = Code(.insideTransaction)
    /// The store's cache failed; `underlying` is its error.
    public static let backend = Code(.backend)
    /// A file cannot be opened, is not a database, or belongs to another program.
    public static let invalidFile = Code(.invalidFile)
    /// The configured schema is not a valid type system; every call that needs it throws this.
    public static let invalidSchema = Code(.invalidSchema)
    /// A transaction read something that is not complete in the store; the message names the first missing field.
    public static let missingData = Code(.missingData)

    /// The code's name.
    public var description: String { kind.rawValue }
  }

  /// What kind of failure it was.
  public var code: Code
  /// What happened, and where.
  public var message: String
  /// What caused it.
  public var underlying: (any Error)?

  /// An error with the given parts.
  public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
  }

  /// Code, message and cause, in one line.
  public var description: String {
    "\(code): \(message)" + (underlying.map { "; caused by: \($0)" } ?? "")
  }
}
