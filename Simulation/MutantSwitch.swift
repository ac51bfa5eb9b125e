#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The broken variant that is in force. `Simulation/run-mutants` copies this file into the modules that it patches.
private let activeMutant = unsafe getenv("MARTLET_MUTANT").map { unsafe String(cString: $0) } ?? ""

/// Whether a broken variant is in force.
func mutant(_ name: String) -> Bool { activeMutant == name }
