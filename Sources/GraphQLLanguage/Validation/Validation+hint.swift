extension Validation {
  /// What a misspelt name may have meant, as the end of a message; empty where the caller must not see the schema.
  func hint(_ name: String, among options: @autoclosure () -> [String], _ subject: String = "") -> String {
    suggests ? Suggestions.text(Suggestions.near(name, among: options()), subject) : ""
  }
}
