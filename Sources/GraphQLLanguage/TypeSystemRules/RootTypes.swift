/// Root types are objects, different ones, and queries have one (section 3.3.1).
enum RootTypes {
  static func check(_ schema: Schema, _ report: inout TypeSystemReport) {
    var kinds: [String: [OperationKind]] = [:]
    for kind in OperationKind.allCases {
      let title = kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst()
      guard let type = schema.rootType(kind) else {
        if kind == .query {
          report.add(.rootTypes, "Query root type must be provided.", [schema.definition?.location])
        }
        continue
      }
      guard type.kind == .object else {
        let condition = kind == .query ? "" : " if provided"
        report.add(
          .rootTypes, "\(title) root type must be Object type\(condition), it cannot be \(type.name).",
          [place(kind, schema) ?? type.definition?.location])
        continue
      }
      kinds[type.name, default: []].append(kind)
    }
    for (name, kinds) in kinds.sorted(by: { $0.key < $1.key }) where kinds.count > 1 {
      let words = kinds.map(\.rawValue)
      let list =
        words.count == 2
        ? "\(words[0]) and \(words[1])" : words.dropLast().joined(separator: ", ") + ", and \(words[2])"
      report.add(
        .rootTypes, "All root types must be different, '\(name)' type is used as \(list) root types.",
        kinds.map { place($0, schema) })
    }
  }

  /// Where the schema definition or an extension names the root type.
  private static func place(_ kind: OperationKind, _ schema: Schema) -> Location? {
    ((schema.definition.map { [$0] } ?? []) + schema.extensions)
      .flatMap(\.operationTypes).last { $0.kind == kind }?.type.location
  }
}
