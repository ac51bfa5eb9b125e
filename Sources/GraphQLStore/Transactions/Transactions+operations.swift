public import MartletGraphQLOperations
internal import MartletJSON

extension ReadTransaction {
  /// The data of a query.
  /// - Throws: `missingData` when the store does not have all of it.
  public func read<Query: GraphQLQuery>(_ query: Query) throws -> Query.Data {
    try read(
      Query.operationDocument, variables: query.variables, operationName: Query.operationName, as: Query.Data.self)
  }
}

extension ReadWriteTransaction {
  /// Reads a query's data, lets `change` change them, and writes them again.
  ///
  /// Types that do not carry `__typename` get it back: an object has the type of the one with the same key fields at
  /// the same place before, else the type that all objects there had, else the one that the configured schema says.
  /// What became nil is stored as null.
  /// - Throws: `missingData`, and what `change` throws.
  public func update<Query: GraphQLQuery>(
    _ query: Query, _ change: (inout Query.Data) throws -> Void
  ) throws where Query.Data: Encodable {
    let document = Query.operationDocument
    var data = try read(query)
    let coding = JSONEncoding(types: .foundation)
    let before = try coding.encode(data)
    try change(&data)
    let new = try coding.encode(data)
    let keys = core.configuration.defaultKeyFields
    try update(document, variables: query.variables, operationName: Query.operationName) { object in
      let old = TypeAdoption.Old(stored: .object(object), shown: before)
      object =
        TypeAdoption(defaultKeys: keys, keys: core.configuration.keyFields).adopt(new, from: [old]).object ?? object
    }
  }
}
