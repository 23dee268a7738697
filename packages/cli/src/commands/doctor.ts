import { type Finding, findingsFor } from '../doctor/findings.ts'
import { exit } from '../exit.ts'
import type { Invocation } from '../grammar.ts'
import type { Io } from '../io.ts'
import { Output } from '../output.ts'
import { safeText } from '../text/safe.ts'

const marks = { ok: 'ok  ', note: 'note', login: 'sign in', failed: 'FAILED' } as const

/** Looks at everything that must work, and says the one next step for what does not. */
export async function run(invocation: Invocation, io: Io): Promise<number> {
  const output = new Output(io, invocation.flags)
  const findings: Finding[] = []
  for await (const finding of findingsFor(invocation, io, output)) {
    findings.push(finding)
    if (!output.isJson) output.item(textOf(finding, output), finding)
    else if (output.isLines) output.item('', finding)
  }
  const failed = findings.filter(({ state }) => state === 'failed')
  if (output.isJson && !output.isLines) output.answer('', { ok: failed.length === 0, findings })
  if (!output.isJson) output.note(failed.length === 0 ? '\nAll is well.' : `\n${failed.length} of ${findings.length} failed.`)
  return failed.length === 0 ? exit.ok : exit.failed
}

function textOf({ state, about, message, next }: Finding, { style }: Output): string {
  const paint = { ok: style.green, note: style.dim, login: style.yellow, failed: style.red }[state]
  const line = `${paint(marks[state])}  ${safeText(about)}: ${safeText(message, { lines: true, limit: 2_000 })}`
  return next === undefined ? line : `${line}\n        next: ${safeText(next, { limit: 500 })}`
}
