extension ServerLimits {
  /// Bounds of the console in the browser, which asks for the server's state each second.
  public struct Console: Sendable {
    /// Changes in one answer; older ones are left out. More than a person reads in the second until the next answer.
    public var changes = 200
    /// Bytes of the changes in one answer, unless one alone is larger: the page asks each second.
    public var changeBytes = 262_144
  }
}
