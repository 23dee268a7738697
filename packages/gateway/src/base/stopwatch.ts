// Slower than any transport parses its messages.
const msPerMebibyte = 50
const mebibyte = 1_048_576

/**
 * Starts to measure work on the event loop. Returns a function that returns the milliseconds spent since: the elapsed time, but not
 * time in which other processes or nothing ran.
 */
export function startStopwatch(): () => number {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return Math.min(performance.now() - startedAt, (user + system) / 1_000)
  }
}

/**
 * Runs a read, and reports the time it took on the event loop. The loop may have done other work meanwhile, so the time is limited to
 * what the received bytes can have cost.
 */
export async function measureRead<T>(
  read: () => Promise<T>,
  { received, charge }: { readonly received: () => number; readonly charge: (ms: number) => void },
): Promise<T> {
  const bytesBefore = received()
  const spent = startStopwatch()
  try {
    return await read()
  } finally {
    charge(Math.min(spent(), ((received() - bytesBefore) / mebibyte) * msPerMebibyte))
  }
}

/** Reports the time spent on the event loop from now until the timers that are due have run. */
export function measureTurn(charge: (ms: number) => void): void {
  const spent = startStopwatch()
  setTimeout(() => charge(spent()), 0).unref()
}
