/// Where inside an input value something is wrong: `.range.from`, `[2]`.
package struct InputPath {
  private var text = ""

  package init() {}

  package func field(_ name: String) -> InputPath {
    var path = self
    path.text += "." + name
    return path
  }

  package func item(_ index: Int) -> InputPath {
    var path = self
    path.text += "[\(index)]"
    return path
  }

  /// ` at .range.from`; empty at the top.
  package var phrase: String { text.isEmpty ? "" : " at " + text }
}
