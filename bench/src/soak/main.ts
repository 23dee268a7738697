// npm run soak [-- --minutes 30 --seed 1 --json]
import { parseArgs } from 'node:util'
import { leaksOf, megabytes } from './judge.ts'
import { type Sample, soak } from './soak.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
})
const minutes = Number(values.minutes)
const seed = Number(values.seed)
if (!(minutes > 0) || !Number.isInteger(seed)) {
  console.error('Usage: npm run soak -- [--minutes <number>] [--seed <integer>] [--json]')
  process.exit(2)
}

console.error(`Soak of ${minutes} minutes with seed ${seed}: one gateway, six clients`)
const result = await soak({ minutes, seed, onSample: (sample) => console.error(line(sample)) })
const leaks = leaksOf(result)
const actions = Object.entries(result.counts).map(([name, count]) => `${name}: ${count}`)
if (values.json) console.log(JSON.stringify({ minutes, seed, ...result, leaks }))
else {
  console.log(actions.join('\n'))
  console.log(leaks.length === 0 ? 'No leaks.' : `Leaks:\n${leaks.join('\n')}`)
}
process.exitCode = leaks.length === 0 ? 0 : 1

function line({ minute, memoryBytes, rssBytes, descriptors, servers, lagP99Ms }: Sample): string {
  const columns = [
    `${minute.toFixed(1)} min`.padStart(8),
    `memory ${megabytes(memoryBytes)}`,
    `rss ${megabytes(rssBytes)}`,
    `${descriptors ?? '?'} descriptors`,
    `${servers} servers`,
    `event loop lag p99 ${lagP99Ms.toFixed(1)} ms`,
  ]
  return columns.join('  ')
}
