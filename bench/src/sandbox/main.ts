// npm run bench -- sandbox [--quick] [--json]
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { connect } from '@unfold-mcp/client'

const { quick, json } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } }).values

const allowedMs = 100
const rounds = quick === true ? 5 : 30
const file = fileURLToPath(new URL('servers/smallest.js', import.meta.url))
const presets = ['none', 'files', 'strict'] as const

const times = new Map(presets.map((preset) => [preset, [] as number[]]))
// Presets take turns, so that a change of the machine's load affects all of them. The first round warms up.
for (let round = 0; round <= rounds; round++)
  for (const preset of presets) {
    const start = performance.now()
    await using connection = await connect({
      command: process.execPath,
      args: [file],
      ...(preset !== 'none' && { sandbox: { preset } }),
    })
    await connection.tools()
    if (round > 0) times.get(preset)?.push(performance.now() - start)
  }

const results = presets.map((preset) => ({ preset, medianMs: median(times.get(preset) ?? []) }))
const [{ medianMs: without } = { medianMs: 0 }] = results
const rows = results.map((each) => ({
  ...each,
  moreMs: each.medianMs - without,
  isWithinTarget: each.medianMs - without <= allowedMs,
}))
if (json === true) console.log(JSON.stringify({ rounds, allowedMs, rows }, undefined, 2))
else {
  console.log(`Start of a server until its tools are listed, median of ${rounds} (target: at most ${allowedMs} ms more)`)
  for (const { preset, medianMs, moreMs, isWithinTarget } of rows)
    console.log(
      `${preset.padEnd(8)}${medianMs.toFixed(0).padStart(5)} ms  ${preset === 'none' ? '' : `+${moreMs.toFixed(0)} ms ${isWithinTarget ? 'ok' : 'MISSED'}`}`,
    )
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
