import MartletGraphQLLanguage
internal import MartletModels
internal import MartletVocabulary

/// Reads what the operations of a model are called.
enum OperationNames {
  /// The names of the operations: generated, renamed, or nil where switched off.
  static func read(_ directive: Directive, _ model: inout ModelDefinition) {
    func name(_ group: String, _ operation: String, _ generated: String) -> String? {
      guard let map = directive.argument(group) else { return generated }
      if map.isNull { return nil }
      guard let value = map[operation] else { return group == "subscriptions" && hasLevel(map) ? generated : nil }
      if group == "subscriptions" { return value.strings?.first }
      return value.string
    }
    func hasLevel(_ map: Value) -> Bool {
      guard case .enumeration(let level)? = map["level"]?.kind else { return false }
      return level != "off"
    }
    let type = ModelNames.capitalized(model.name)
    model.operations.get = name("queries", "get", "get\(type)")
    model.operations.list = name("queries", "list", "list\(ModelNames.capitalized(model.pluralName))")
    if model.conflicts != nil { model.operations.sync = "sync\(ModelNames.capitalized(model.pluralName))" }
    model.operations.create = name("mutations", "create", "create\(type)")
    model.operations.update = name("mutations", "update", "update\(type)")
    model.operations.delete = name("mutations", "delete", "delete\(type)")
    model.operations.onCreate = name("subscriptions", "onCreate", "onCreate\(type)")
    model.operations.onUpdate = name("subscriptions", "onUpdate", "onUpdate\(type)")
    model.operations.onDelete = name("subscriptions", "onDelete", "onDelete\(type)")
  }
}
