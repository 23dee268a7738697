// Runs named steps and prints their results and durations.
import util from 'node:util'

export const isPlain = process.env.CI !== undefined || process.env.NO_COLOR !== undefined || !process.stderr.isTTY

/** Process options for a tool that writes directly to the terminal. */
export const shown = { stdio: 'inherit', env: isPlain ? { ...process.env, NO_COLOR: '1' } : process.env }

/** Process options for a tool whose output is printed only if it fails. */
export const captured = { env: { ...process.env, ...(isPlain ? { NO_COLOR: '1' } : { FORCE_COLOR: '1' }) } }

/** Runs one step and prints its result, with its output if it failed. Resolves with whether it succeeded. */
export async function step(name, work) {
  const start = performance.now()
  const { code, output } = await work()
  const seconds = `(${((performance.now() - start) / 1_000).toFixed(1)} s)`
  console.error(`${code === 0 ? paint('green', 'ok  ') : paint('red', 'FAIL')} ${name} ${paint('dim', seconds)}`)
  if (code !== 0 && output !== '') console.error(output.trimEnd())
  return code === 0
}

/** Runs steps (`{ [name]: work }`) two at a time, in order. Resolves with whether all succeeded. */
export async function stepsInPairs(steps) {
  const queue = Object.entries(steps)
  const results = []
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) results.push(await step(...next))
  }
  await Promise.all([worker(), worker()])
  return results.every(Boolean)
}

function paint(style, text) {
  return isPlain ? text : util.styleText(style, text)
}
