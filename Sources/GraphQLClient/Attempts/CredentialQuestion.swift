import MartletRuntime
import MartletVocabulary

/// The credential provider did not return in the time the configuration gives it.
package struct CredentialTimeout: Error, Sendable, CustomStringConvertible {
  /// The time it had.
  package var time: Duration

  package var description: String { "the credential provider did not return within \(time)" }
}

/// One call of the credential provider, with a deadline. Confined to its loop.
final class CredentialQuestion {
  private let loop: any Loop
  private var completion: ((Result<Credentials, any Error>) -> Void)?
  private var task: SpawnedTask?
  private var timer: LoopTimer?

  /// Calls the provider in a task of its own; `completion` runs once on the loop, never inside this call, not after
  /// `cancel`.
  init(
    _ provider: @escaping CredentialProvider, _ reason: CredentialReason, timeout: Duration,
    _ environment: ClientEnvironment, completion: @escaping (Result<Credentials, any Error>) -> Void
  ) {
    loop = environment.loop
    self.completion = completion
    timer = loop.schedule(at: loop.now + timeout) { [weak self] in
      self?.answered(.failure(CredentialTimeout(time: timeout)))
    }
    let bound = LoopBound(self, on: loop)
    task = environment.spawner.spawn {
      let answer: Result<Credentials, any Error>
      do {
        answer = .success(try await provider(reason))
      } catch {
        answer = .failure(error)
      }
      bound.loop.execute { bound.value.answered(answer) }
    }
  }

  private func answered(_ answer: Result<Credentials, any Error>) {
    let told = completion
    cancel()
    told?(answer)
  }

  func cancel() {
    completion = nil
    timer?.cancel()
    task?.cancel()
    task = nil
  }
}
