// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// A stand-in for the part of UIKit that the seeds' samples touch, so that they compile and run where there is none.
// Names and isolation are those of the framework; what a screen would show is printed.
@_exported import Foundation

@MainActor open class UIViewController {
  public init() {}
  open func viewDidLoad() {}
  open func viewDidAppear(_ animated: Bool) {}
  open func viewDidDisappear(_ animated: Bool) {}
}

@MainActor open class UIView {
  public init() {}
}

open class UITableViewCell: UIView {}

open class UITableView: UIView {
  private var makers: [String: () -> UITableViewCell] = [:]
  /// Called in place of drawing.
  public var onReload: () -> Void = {}

  public func register(withIdentifier identifier: String, _ make: @escaping () -> UITableViewCell) {
    makers[identifier] = make
  }

  public func dequeueReusableCell(withIdentifier identifier: String, for indexPath: IndexPath) -> UITableViewCell {
    makers[identifier]?() ?? UITableViewCell()
  }

  public func reloadData() { onReload() }
}

extension IndexPath {
  public init(row: Int, section: Int) { self.init(indexes: [section, row]) }
  public var row: Int { self[1] }
}
