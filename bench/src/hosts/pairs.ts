// Each host is a large program, and the machines that test us have two cores.
const atOnce = 2

/** Does some work for each of many, two at a time; the results are in the order of the many. */
export async function inPairs<T, R>(many: readonly T[], work: (each: T) => Promise<R>): Promise<readonly R[]> {
  const queue = [...many.entries()]
  const results: R[] = []
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) results[next[0]] = await work(next[1])
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
