/** Measures the CPU time of `work` in milliseconds, which unlike elapsed time does not depend on other processes. */
export async function cpuTime<T>(work: () => T | Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const start = process.cpuUsage()
  const value = await work()
  const { user, system } = process.cpuUsage(start)
  return { value, ms: (user + system) / 1_000 }
}
