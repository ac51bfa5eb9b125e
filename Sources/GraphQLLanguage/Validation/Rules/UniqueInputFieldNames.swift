/// No two fields of an input object value have the same name.
enum UniqueInputFieldNames {
  static func check(_ fields: [ObjectField], _ validation: Validation) {
    Repetitions.find(fields.map(\.name)) { name, locations in
      for location in locations.dropFirst() {
        validation.report(
          .uniqueInputFieldNames, "There can be only one input field named '\(name)'.", locations[0], location)
      }
    }
  }
}
