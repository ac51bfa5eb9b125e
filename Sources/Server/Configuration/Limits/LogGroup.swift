extension ServerLimits {
  /// Bounds of the server's own log. The log to standard error is one for the process: of several servers, the bounds
  /// of the one that was made last hold.
  public struct Log: Sendable {
    /// Entries that wait for the sink. A sink that does not take them, such as a pipe that is never read, costs this
    /// many entries of memory (about a megabyte at most); newer ones are dropped.
    public var queuedEntries = 1_024
    /// Entries of one message, and of one status or field where it has one, that are written within `repeatInterval`;
    /// the others are counted. Without the limit, peers that break rules would fill a disk.
    public var repeats = 5
    /// How long entries that repeat each other are counted before a line says how many there were.
    public var repeatInterval: Duration = .seconds(60)
    /// Different kinds of entries that are counted apart; the kinds beyond share one count.
    public var kinds = 256
    /// Bytes of one value of an entry; the rest is cut off. Values may quote a client's words or an error's text.
    public var valueBytes = 1_000
    /// How long a server that ends waits for its last entries to be written: the sink may take none.
    public var flushTime: Duration = .milliseconds(500)
  }
}
