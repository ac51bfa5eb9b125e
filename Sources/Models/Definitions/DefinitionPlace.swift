/// Where a schema's text defines something, for messages. Two definitions are equal wherever they stand.
package struct DefinitionPlace: Hashable, Sendable {
  /// From 1; 0 for a definition that no text has.
  package var line: Int
  /// In Unicode scalars, from 1.
  package var column: Int
  /// The byte within the text, from 0.
  package var offset: Int

  package init(line: Int = 0, column: Int = 0, offset: Int = 0) {
    self.line = line
    self.column = column
    self.offset = offset
  }

  package static func == (left: DefinitionPlace, right: DefinitionPlace) -> Bool { true }

  package func hash(into hasher: inout Hasher) {}
}
