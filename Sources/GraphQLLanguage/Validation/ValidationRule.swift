/// The rules a request is checked by, each in a file of its name. Section numbers are those of the September 2025
/// edition.
package enum ValidationRule: String, Hashable, Sendable, CaseIterable {
  /// 5.1.1 Executable Definitions.
  case executableDefinitions = "ExecutableDefinitions"
  /// 5.2.1.1 Operation Type Existence.
  case knownOperationTypes = "KnownOperationTypes"
  /// 5.2.2.1 Operation Name Uniqueness.
  case uniqueOperationNames = "UniqueOperationNames"
  /// 5.2.3.1 Lone Anonymous Operation.
  case loneAnonymousOperation = "LoneAnonymousOperation"
  /// 5.2.4.1 Single Root Field.
  case singleFieldSubscriptions = "SingleFieldSubscriptions"
  /// 5.5.1.2 Fragment Spread Type Existence, and types of variables.
  case knownTypeNames = "KnownTypeNames"
  /// 5.5.1.3 Fragments on Object, Interface or Union Types.
  case fragmentsOnCompositeTypes = "FragmentsOnCompositeTypes"
  /// 5.8.2 Variables Are Input Types.
  case variablesAreInputTypes = "VariablesAreInputTypes"
  /// 5.3.3 Leaf Field Selections.
  case scalarLeafs = "ScalarLeafs"
  /// 5.3.1 Field Selections.
  case fieldsOnCorrectType = "FieldsOnCorrectType"
  /// 5.5.1.1 Fragment Name Uniqueness.
  case uniqueFragmentNames = "UniqueFragmentNames"
  /// 5.5.2.1 Fragment Spread Target Defined.
  case knownFragmentNames = "KnownFragmentNames"
  /// 5.5.1.4 Fragments Must Be Used.
  case noUnusedFragments = "NoUnusedFragments"
  /// 5.5.2.3 Fragment Spread Is Possible.
  case possibleFragmentSpreads = "PossibleFragmentSpreads"
  /// 5.5.2.2 Fragment Spreads Must Not Form Cycles.
  case noFragmentCycles = "NoFragmentCycles"
  /// 5.8.1 Variable Uniqueness.
  case uniqueVariableNames = "UniqueVariableNames"
  /// 5.8.3 All Variable Uses Defined.
  case noUndefinedVariables = "NoUndefinedVariables"
  /// 5.8.4 All Variables Used.
  case noUnusedVariables = "NoUnusedVariables"
  /// 5.7.1 Directives Are Defined, and 5.7.2 Directives Are in Valid Locations.
  case knownDirectives = "KnownDirectives"
  /// 5.7.3 Directives Are Unique per Location.
  case uniqueDirectivesPerLocation = "UniqueDirectivesPerLocation"
  /// 5.4.1 Argument Names.
  case knownArgumentNames = "KnownArgumentNames"
  /// 5.4.2 Argument Uniqueness.
  case uniqueArgumentNames = "UniqueArgumentNames"
  /// 5.6.1 Values of Correct Type, with 5.6.2 Input Object Field Names and 5.6.4 Input Object Required Fields.
  case valuesOfCorrectType = "ValuesOfCorrectType"
  /// 5.4.3 Required Arguments.
  case providedRequiredArguments = "ProvidedRequiredArguments"
  /// 5.8.5 All Variable Usages Are Allowed.
  case variablesInAllowedPosition = "VariablesInAllowedPosition"
  /// 5.3.2 Field Selection Merging.
  case overlappingFieldsCanBeMerged = "OverlappingFieldsCanBeMerged"
  /// 5.6.3 Input Object Field Uniqueness.
  case uniqueInputFieldNames = "UniqueInputFieldNames"
  /// Incremental delivery: neither directive on fields of the mutation or subscription root.
  case deferStreamDirectiveOnRootField = "DeferStreamDirectiveOnRootField"
  /// Incremental delivery: in subscriptions only where `if` can be false.
  case deferStreamDirectiveOnValidOperations = "DeferStreamDirectiveOnValidOperations"
  /// Incremental delivery: labels are written out and unique.
  case deferStreamDirectiveLabel = "DeferStreamDirectiveLabel"
  /// Incremental delivery: `@stream` on lists only.
  case streamDirectiveOnListField = "StreamDirectiveOnListField"
  /// Not in the specification: keeps introspection from being used to exhaust a server.
  case maxIntrospectionDepth = "MaxIntrospectionDepth"
  /// Not in the specification: the bounds of `ValidationLimits`.
  case validationLimits = "ValidationLimits"
}

/// How much work validation and execution of one request may be.
package struct ValidationLimits: Hashable, Sendable {
  /// Errors reported for one document; after them validation stops. Default 100.
  package var errors: Int
  /// Pairs of fields compared to find out whether selections can be merged. Default 100,000, some 10 milliseconds.
  package var fieldComparisons: Int
  /// Selection sets inside each other once fragments are expanded. Default 128; walks through a document use the stack
  /// in proportion.
  package var depth: Int
  /// Lists of fields, interfaces, possible types or input fields inside each other in introspection. Default 2, which
  /// is what the usual introspection queries need.
  package var introspectionDepth: Int
  /// The cost of an operation as `OperationCost` estimates it. Default 250,000.
  package var complexity: Int
  /// What a list or page has at most, whatever an operation asks for, as its cost counts it. Default: no bound.
  package var largestPage: Int

  package init(
    errors: Int = 100, fieldComparisons: Int = 100_000, depth: Int = 128, introspectionDepth: Int = 2,
    complexity: Int = 250_000, largestPage: Int = .max
  ) {
    self.errors = errors
    self.fieldComparisons = fieldComparisons
    self.depth = depth
    self.introspectionDepth = introspectionDepth
    self.complexity = complexity
    self.largestPage = largestPage
  }
}
