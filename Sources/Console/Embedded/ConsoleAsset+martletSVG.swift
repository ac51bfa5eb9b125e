// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/martlet.svg.

extension ConsoleAsset {
  static let martletSVG = ConsoleAsset(
    "martlet.svg", .svg,
    ##"""
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#2f7d78" d="M2 9c7 0 11 2 14 6 2-5 6-8 14-9-4 3-6 6-8 10-2 5-6 9-13 10l-4 4 1-5c3-2 4-4 4-7C8 14 6 11 2 9z"/><circle cx="21.500" cy="10.500" r="1" fill="#fff"/></svg>

    """##)
}
