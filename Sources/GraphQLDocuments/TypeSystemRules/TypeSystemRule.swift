/// The rules a type system document is checked by (section 3).
package enum TypeSystemRule: String, Hashable, Sendable, CaseIterable {
  /// One schema definition.
  case loneSchemaDefinition = "LoneSchemaDefinition"
  /// One root type for each kind of operation.
  case uniqueOperationTypes = "UniqueOperationTypes"
  case uniqueTypeNames = "UniqueTypeNames"
  case uniqueEnumValueNames = "UniqueEnumValueNames"
  case uniqueFieldDefinitionNames = "UniqueFieldDefinitionNames"
  case uniqueArgumentDefinitionNames = "UniqueArgumentDefinitionNames"
  case uniqueDirectiveNames = "UniqueDirectiveNames"
  /// Types that are referred to exist.
  case knownTypeNames = "KnownTypeNames"
  /// Extended types exist and are of the extension's kind.
  case possibleTypeExtensions = "PossibleTypeExtensions"
  /// Applied directives exist and may stand where they do.
  case knownDirectives = "KnownDirectives"
  case uniqueDirectivesPerLocation = "UniqueDirectivesPerLocation"
  case knownArgumentNames = "KnownArgumentNamesOnDirectives"
  case uniqueArgumentNames = "UniqueArgumentNames"
  case uniqueInputFieldNames = "UniqueInputFieldNames"
  case providedRequiredArguments = "ProvidedRequiredArgumentsOnDirectives"
  /// 3.3.1 Root Operation Types.
  case rootTypes = "RootTypes"
  /// 2.1.9.1 Reserved Names.
  case reservedNames = "ReservedNames"
  /// Objects, interfaces, unions, enums and input objects have members, of kinds that fit.
  case members = "Members"
  /// 3.6.1 and 3.7.1: implementing types have what their interfaces ask for.
  case interfaces = "Interfaces"
  /// 3.10: input objects can be given a finite value.
  case inputCycles = "InputCycles"
  /// 3.10.1 OneOf Input Objects.
  case oneOf = "OneOf"
  /// Defaults are values of their type and end.
  case defaultValues = "DefaultValues"
  /// Arguments of applied directives are values of their type.
  case directiveValues = "DirectiveValues"
  /// 3.13: directives do not refer to themselves.
  case directiveCycles = "DirectiveCycles"
  /// 3.13.3: what is required is not deprecated.
  case deprecation = "Deprecation"
}

/// Where the rules for type systems report.
package struct TypeSystemReport {
  package private(set) var errors: [GraphQLError] = []

  package init() {}

  package mutating func add(_ rule: TypeSystemRule, _ message: String, _ locations: [Location?]) {
    errors.append(
      GraphQLError(message: message, locations: locations.compactMap { $0?.source }, rule: rule.rawValue))
  }
}
