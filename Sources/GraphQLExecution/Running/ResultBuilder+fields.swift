import MartletGraphQLLanguage
import MartletJSON

// Section 6.4.2 "Value Resolution". A nil result means: null may not stand here, and the error is already reported, so
// the null travels to the next position outwards where it may (section 6.4.4).
extension ResultBuilder {
  /// Executes one field; false when its null must travel further.
  mutating func executeField(
    _ field: FieldPlan, at index: Int, in container: ResultContainer, of source: ResolvedValue
  ) -> Bool {
    if case .typeName = field.content {
      container.values[index] = .string(field.parentName)
      return true
    }
    steps.append(ResultStep(container: container, index: index, isNullable: !field.isNonNull))
    defer { steps.removeLast() }
    guard let value = resolve(field, of: source) else { return false }
    container.values[index] = value
    return true
  }

  mutating func resolve(_ field: FieldPlan, of source: ResolvedValue) -> ResultValue? {
    let arguments: JSONObject
    switch field.arguments {
    case .none:
      if case .property = field.resolver { return readProperty(field, of: source) }
      arguments = JSONObject()
    case .constant(let constant): arguments = constant
    case .variable(let sources):
      do {
        arguments = try schema.types.arguments(
          sources, variables: variables, location: field.location)
      } catch {
        return fail(error, field)
      }
    case .fault(let fault): return fail(fault, field)
    }
    do {
      switch field.resolver {
      case .property: return readProperty(field, of: source)
      case .parent: return completePosition(source, field.type, field)
      case .builtIn(let body):
        return completePosition(try body(request(field, source, arguments, path: [])), field.type, field)
      case .computed(let body):
        return completePosition(try body(request(field, source, arguments, path: path)), field.type, field)
      case .waiting, .batched, .callback:
        enqueue(field, source, arguments)
        return .pending
      case .sequence:
        enqueue(field, source, arguments, wanted: try wantedItems(field))
        return .pending
      }
    } catch {
      return fail(error, field)
    }
  }

  /// A field that its parent has already: most fields of most answers, so leaves take no way round.
  private mutating func readProperty(_ field: FieldPlan, of source: ResolvedValue) -> ResultValue? {
    guard let leaf = field.leaf else {
      return completePosition(source.property(field, near: position), field.type, field)
    }
    switch source.content {
    case .record(let record):
      guard let slot = field.slot, let value = record[slot: slot] else { break }
      return completeLeaf(value, leaf, field)
    case .json(.object(let members)):
      return completeLeaf(members.value(named: field.name, near: position) ?? .null, leaf, field)
    case .null, .json, .list, .partial, .object: break
    }
    return completePosition(source.property(field, near: position), field.type, field)
  }

  /// The place of the field that is executed among its neighbours.
  private var position: Int { steps.last?.index ?? 0 }

  mutating func completeLeaf(_ value: JSONValue, _ leaf: LeafShape, _ field: FieldPlan) -> ResultValue? {
    if case .null = value { return field.isNonNull ? reportNull(field) : .null }
    do {
      return try leaf.serialize(value)
    } catch {
      return fail(error, field)
    }
  }

  private func request(
    _ field: FieldPlan, _ source: ResolvedValue, _ arguments: JSONObject, path: [GraphQLError.PathElement]
  ) -> FieldRequest {
    FieldRequest(
      source: source, arguments: arguments, context: context, typeName: field.parentName, fieldName: field.name,
      path: path, slots: field.parentSlots)
  }
}

extension ResolvedValue {
  /// What a field without a resolver reads from its parent. `position` is the field's own in its selection: JSON that
  /// was made for the query has its members in that order.
  func property(_ field: FieldPlan, near position: Int) -> ResolvedValue {
    switch content {
    case .record(let record):
      guard let slot = field.slot, let value = record[slot: slot] else { return .null }
      return ResolvedValue(.json(value))
    case .json(.object(let members)):
      return members.value(named: field.name, near: position).map { ResolvedValue(.json($0)) } ?? .null
    case .object(let object): return object.value(of: field.name)
    case .null, .json, .list, .partial: return .null
    }
  }

  /// The object type that the value names itself.
  var statedType: String? {
    if let typeName { return typeName }
    switch content {
    case .record(let record): return record.typeName
    case .object(let object): return object.typeName
    case .json(.object(let members)):
      if case .string(let name)? = members["__typename"] { return name }
      return nil
    case .null, .json, .list, .partial: return nil
    }
  }
}
