/// No two arguments of a field or directive have the same name.
enum UniqueArgumentNames {
  static func check(_ arguments: [Argument], _ validation: Validation) {
    Repetitions.find(arguments.map(\.name)) { name, locations in
      validation.report(.uniqueArgumentNames, "There can be only one argument named '\(name)'.", locations)
    }
  }
}
