internal import MartletRuntime

extension ApplicationSurroundings {
  /// This system reports neither an application's life nor the network's paths.
  static let system = ApplicationSurroundings.none
}
