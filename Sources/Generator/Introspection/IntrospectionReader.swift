package import MartletGraphQLLanguage
package import MartletJSON

/// Reads the answer to an introspection query back into definitions (section 4.2).
package struct IntrospectionReader {
  private let limits: GeneratorLimits

  /// The definitions an answer describes. The answer may be the whole response, its `data`, or the `__schema` alone.
  ///
  /// - Throws: `GenerationError` naming the member that is missing or does not fit.
  package static func document(
    from answer: JSONValue, limits: GeneratorLimits = GeneratorLimits()
  ) throws(GenerationError) -> Document {
    let root = answer["data"] ?? answer
    let schema = root["__schema"] ?? root
    return try IntrospectionReader(limits: limits).document(schema)
  }

  private init(limits: GeneratorLimits) {
    self.limits = limits
  }

  private static let builtInScalars: Set<String> = ["Int", "Float", "String", "Boolean", "ID"]
  private static let builtInDirectives: Set<String> = ["skip", "include", "deprecated", "specifiedBy", "oneOf"]

  private func document(_ schema: JSONValue) throws(GenerationError) -> Document {
    guard let types = schema["types"]?.array else { throw failure("__schema.types", "is missing or no list") }
    var roots: [OperationTypeDefinition] = []
    for (kind, member) in [
      (OperationKind.query, "queryType"), (.mutation, "mutationType"), (.subscription, "subscriptionType"),
    ] {
      if let name = schema[member]?["name"]?.string {
        roots.append(OperationTypeDefinition(kind: kind, type: Name(name)))
      }
    }
    guard roots.contains(where: { $0.kind == .query }) else {
      throw failure("__schema.queryType", "is missing")
    }
    var definitions: [Definition] = [.schema(SchemaDefinition(operationTypes: roots))]
    for (index, directive) in (schema["directives"]?.array ?? []).enumerated() {
      if let definition = try self.directive(directive, "directives[\(index)]") {
        definitions.append(.directive(definition))
      }
    }
    for (index, type) in types.enumerated() {
      if let definition = try self.type(type, "types[\(index)]") { definitions.append(.type(definition)) }
    }
    return Document(definitions: definitions)
  }

  // MARK: Definitions

  private func type(_ value: JSONValue, _ path: String) throws(GenerationError) -> TypeDefinition? {
    let name = try text(value, "name", path)
    if name.utf8.starts(with: "__".utf8) || Self.builtInScalars.contains(name) { return nil }
    let kindName = try text(value, "kind", path)
    guard let kind = TypeKind(rawValue: kindName) else { throw failure(path, "has the unknown kind \"\(kindName)\"") }
    var directives: [Directive] = []
    let content: TypeDefinition.Content
    switch kind {
    case .scalar: content = .scalar
    case .object:
      content = .object(interfaces: names(value["interfaces"]), fields: try fields(value["fields"], path))
    case .interface:
      content = .interface(interfaces: names(value["interfaces"]), fields: try fields(value["fields"], path))
    case .union: content = .union(members: names(value["possibleTypes"]))
    case .enumeration:
      var values: [EnumValueDefinition] = []
      for (index, member) in (value["enumValues"]?.array ?? []).enumerated() {
        let place = "\(path).enumValues[\(index)]"
        values.append(
          EnumValueDefinition(
            description: description(member), name: Name(try text(member, "name", place)),
            directives: deprecation(member)))
      }
      content = .enumeration(values: values)
    case .inputObject:
      content = .inputObject(fields: try inputs(value["inputFields"], "\(path).inputFields"))
      if value["isOneOf"]?.bool == true { directives.append(Directive("oneOf")) }
    }
    return TypeDefinition(description: description(value), name: Name(name), directives: directives, content: content)
  }

  private func fields(_ value: JSONValue?, _ path: String) throws(GenerationError) -> [FieldDefinition] {
    var fields: [FieldDefinition] = []
    for (index, field) in (value?.array ?? []).enumerated() {
      let place = "\(path).fields[\(index)]"
      fields.append(
        FieldDefinition(
          description: description(field), name: Name(try text(field, "name", place)),
          arguments: try inputs(field["args"], "\(place).args"),
          type: try reference(field["type"], "\(place).type"), directives: deprecation(field)))
    }
    return fields
  }

  private func inputs(_ value: JSONValue?, _ path: String) throws(GenerationError) -> [InputValueDefinition] {
    var inputs: [InputValueDefinition] = []
    for (index, input) in (value?.array ?? []).enumerated() {
      let place = "\(path)[\(index)]"
      var defaultValue: Value?
      if let written = input["defaultValue"]?.string {
        // Some servers write JSON or what their language prints. That there is a default is all that matters here.
        defaultValue = (try? Parser.parseConstantValue(written)) ?? Value(.string(StringValue(written)))
      }
      inputs.append(
        InputValueDefinition(
          description: description(input), name: Name(try text(input, "name", place)),
          type: try reference(input["type"], "\(place).type"), defaultValue: defaultValue,
          directives: deprecation(input)))
    }
    return inputs
  }

  private func directive(_ value: JSONValue, _ path: String) throws(GenerationError) -> DirectiveDefinition? {
    let name = try text(value, "name", path)
    if Self.builtInDirectives.contains(name) { return nil }
    // A place that a later edition of the specification adds does not matter here.
    let locations = (value["locations"]?.array ?? []).compactMap {
      $0.string.flatMap(DirectiveLocation.init(rawValue:))
    }
    guard !locations.isEmpty else { return nil }
    return DirectiveDefinition(
      description: description(value), name: Name(name), arguments: try inputs(value["args"], "\(path).args"),
      isRepeatable: value["isRepeatable"]?.bool ?? false, locations: locations)
  }

  // MARK: Pieces

  private func reference(
    _ value: JSONValue?, _ path: String, wrappers: Int = 0
  ) throws(GenerationError) -> TypeReference {
    guard wrappers <= limits.introspectedWrappers else {
      throw GenerationError(.limit, "\(path) has more than \(limits.introspectedWrappers) wrappers.")
    }
    guard let value, let kind = value["kind"]?.string else { throw failure(path, "is missing or has no kind") }
    switch kind {
    case "NON_NULL":
      return .nonNull(try reference(value["ofType"], "\(path).ofType", wrappers: wrappers + 1))
    case "LIST": return .list(try reference(value["ofType"], "\(path).ofType", wrappers: wrappers + 1))
    default: return .named(try text(value, "name", path))
    }
  }

  private func names(_ value: JSONValue?) -> [Name] {
    (value?.array ?? []).compactMap { $0["name"]?.string.map { Name($0) } }
  }

  private func description(_ value: JSONValue) -> StringValue? {
    value["description"]?.string.map { StringValue($0) }
  }

  private func deprecation(_ value: JSONValue) -> [Directive] {
    guard value["isDeprecated"]?.bool == true else { return [] }
    guard let reason = value["deprecationReason"]?.string else { return [Directive("deprecated")] }
    return [Directive("deprecated", [("reason", .string(reason))])]
  }

  private func text(_ value: JSONValue, _ member: String, _ path: String) throws(GenerationError) -> String {
    guard let text = value[member]?.string, !text.isEmpty else {
      throw failure("\(path).\(member)", "is missing or no text")
    }
    return text
  }

  private func failure(_ path: String, _ what: String) -> GenerationError {
    GenerationError(.validation, "The introspection answer is not a schema: \(path) \(what).")
  }
}
