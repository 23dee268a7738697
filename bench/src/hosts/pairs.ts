// Each host is a large program, and CI machines have two cores.
const atOnce = 2

/** Maps items with a concurrency of two; results are in the order of the items. */
export async function inPairs<T, R>(many: readonly T[], work: (each: T) => Promise<R>): Promise<readonly R[]> {
  const queue = [...many.entries()]
  const results: R[] = []
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) results[next[0]] = await work(next[1])
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
