import MartletGraphQLLanguage
internal import MartletModels

/// Reads which fields of a model say when a record was made and changed.
enum TimeStamps {
  /// `createdAt` and `updatedAt`, renamed or switched off by `timestamps`.
  static func read(_ directive: Directive, _ model: inout ModelDefinition, _ complaints: inout Complaints) {
    let names = directive.argument("timestamps")
    if let names, names.isNull { return }
    model.createdAt = field("createdAt", names, &model, directive.location, &complaints)
    model.updatedAt = field("updatedAt", names, &model, directive.location, &complaints)
  }

  private static func field(
    _ role: String, _ names: Value?, _ model: inout ModelDefinition, _ location: Location,
    _ complaints: inout Complaints
  ) -> Int? {
    var name = role
    if let value = names?[role] {
      guard let renamed = value.string else { return nil }
      name = renamed
    }
    if let position = model.position(of: name) {
      guard model.fields[position].kind == .scalar(.awsDateTime), !model.fields[position].isList else {
        complaints.add(
          "\(model.name).\(name) must be an AWSDateTime to be a time stamp.", at: model.fields[position].location)
        return nil
      }
      return position
    }
    model.fields.append(
      ModelField(
        name: name, columnName: name, kind: .scalar(.awsDateTime), isRequired: true, place: location.place))
    return model.fields.count - 1
  }
}
