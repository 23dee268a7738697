// Loaded into a measured gateway with `--import`: on SIGUSR2, writes its live heap in bytes to the file in BENCH_HEAP_FILE.
import { renameSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const file = process.env.BENCH_HEAP_FILE
const settleMs = 300

if (file !== undefined) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  process.on('SIGUSR2', () => {
    for (let count = 0; count < 3; count++) collect()
    // Finalizers run between the collections.
    setTimeout(() => {
      for (let count = 0; count < 3; count++) collect()
      const { heapUsed, external } = process.memoryUsage()
      writeFileSync(`${file}.new`, String(heapUsed + external))
      renameSync(`${file}.new`, file)
    }, settleMs)
  })
}
