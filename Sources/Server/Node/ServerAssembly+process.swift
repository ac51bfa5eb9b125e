internal import MartletRuntime
internal import MartletStore

extension ServerAssembly.Surroundings {
  /// What a node of a process runs on: the system's clocks and threads, and the store's failures in the log.
  static func process(
    _ data: ServerConfiguration.Data, term: UInt64, _ calendar: Calendar, _ configuration: ServerConfiguration,
    _ failure: FailureSwitch
  ) -> ServerAssembly.Surroundings {
    let log = configuration.log
    var options = StoreOptions(
      term: term, clock: StoreClock(now: MonotonicClock.now, milliseconds: WallClock.milliseconds),
      limits: StoreLimits(configuration.limits))
    options.onFailure = { error in
      log.write(.error, "The disk failed: nothing is acknowledged from now on.", [(.reason, error.description)])
      failure.fail(error.description)
    }
    options.onTrouble = { trouble in
      guard let trouble else { return log.write(.info, "Writes are accepted again.", []) }
      guard trouble.code != .failed else { return }
      log.write(.error, "Writes are refused: the store cannot be written.", [(.reason, trouble.description)])
    }
    options.onDamage = { damage in
      log.write(.error, "The change log cannot be read.", [(.offset, "\(damage.offset)"), (.reason, damage.reason)])
    }
    let place: StorePlace =
      switch data {
      case .folder(let folder): .folder(folder)
      case .memory: .emptyMemory
      }
    return ServerAssembly.Surroundings(
      place: place, storeOptions: options, spawner: ConcurrentSpawner(), calendar: calendar)
  }
}
