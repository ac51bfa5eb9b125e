/// A model or field that a schema in force has and the schema that should follow it has not.
package struct MissingInSchema: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String
}

extension [ModelDefinition] {
  /// The same models with the numbers and field positions of a schema in force; what is new comes after them.
  ///
  /// Changes, interests, predicates and plans name models and fields by these numbers. A schema that is read while it
  /// is in use therefore takes them over, wherever in the text models and fields were added: what was planned under the
  /// old schema keeps its meaning under the new one. Models are the same by their table, fields by their column.
  ///
  /// - Throws: when a model or a field of `previous` is missing.
  package func numbered(keeping previous: [ModelDefinition]) throws(MissingInSchema) -> [ModelDefinition] {
    let order = try Self.order(
      map { Array<UInt8>($0.tableName.utf8) }, keeping: previous.map { Array<UInt8>($0.tableName.utf8) }
    ) { "the model \(previous[$0].name)" }
    var numbers = [Int](repeating: 0, count: count)
    for (new, old) in order.enumerated() { numbers[old] = new }
    var positions: [[Int]] = []
    for (old, model) in enumerated() {
      let before = previous.indices.contains(numbers[old]) ? previous[numbers[old]].fields : []
      let fields = try Self.order(
        model.fields.map { Array<UInt8>($0.columnName.utf8) }, keeping: before.map { Array<UInt8>($0.columnName.utf8) }
      ) { "the field \(model.name).\(before[$0].name)" }
      var moved = [Int](repeating: 0, count: fields.count)
      for (new, old) in fields.enumerated() { moved[old] = new }
      positions.append(moved)
    }
    return order.enumerated().map { number, old in
      var model = self[old]
      let moved = positions[old]
      model.number = number
      var fields = model.fields
      for (position, field) in model.fields.enumerated() { fields[moved[position]] = field }
      model.fields = fields
      model.primaryKey = model.primaryKey.map { moved[$0] }
      model.createdAt = model.createdAt.map { moved[$0] }
      model.updatedAt = model.updatedAt.map { moved[$0] }
      for index in model.indexes.indices { model.indexes[index].fields = model.indexes[index].fields.map { moved[$0] } }
      model.access.move(moved)
      for index in model.relations.indices {
        let target = model.relations[index].target
        model.relations[index].sourceFields = model.relations[index].sourceFields.map { moved[$0] }
        model.relations[index].targetFields = model.relations[index].targetFields.map { positions[target][$0] }
        model.relations[index].target = numbers[target]
      }
      return model
    }
  }

  /// The order in which names stand: those of `previous` first, in its order, then the others in theirs. Gives the
  /// position of each in `names`.
  private static func order(
    _ names: [[UInt8]], keeping previous: [[UInt8]], _ what: (Int) -> String
  ) throws(MissingInSchema) -> [Int] {
    var order: [Int] = []
    for (position, name) in previous.enumerated() {
      guard let found = names.firstIndex(of: name) else {
        throw MissingInSchema(
          description: "\(what(position)) is not in the new schema; removing it needs a restart")
      }
      order.append(found)
    }
    let kept = Set(order)
    return order + names.indices.filter { !kept.contains($0) }
  }
}

extension ModelAccess {
  /// The same rules after their model's fields have moved: the field at position `n` is at `moved[n]`.
  fileprivate mutating func move(_ moved: [Int]) {
    func rule(_ rule: AccessRule) -> AccessRule {
      var rule = rule
      switch rule.subject {
      case .owner(let field, let isList, let claim):
        rule.subject = .owner(field: moved[field], isList: isList, claim: claim)
      case .groupsField(let field, let isList, let claim):
        rule.subject = .groupsField(moved[field], isList: isList, claim: claim)
      case .groups, .private, .public, .custom: break
      }
      return rule
    }
    rules = rules.map(rule)
    fieldRules = Dictionary(uniqueKeysWithValues: fieldRules.map { (moved[$0.key], $0.value.map(rule)) })
    relationRules = relationRules.mapValues { $0.map(rule) }
  }
}
