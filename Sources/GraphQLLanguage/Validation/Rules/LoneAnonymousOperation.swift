/// An operation without a name is the only one.
enum LoneAnonymousOperation {
  static func check(_ operations: [OperationDefinition], _ validation: Validation) {
    guard operations.count > 1 else { return }
    for operation in operations where operation.name == nil {
      validation.report(
        .loneAnonymousOperation, "This anonymous operation must be the only defined operation.", operation.location)
    }
  }
}
