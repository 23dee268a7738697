import { exit } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { type Finding, findingsFor } from '../doctor/findings.ts'
import { deleteNpxFolders } from '../doctor/npx.ts'
import { restartServers } from '../gateway/running.ts'
import { type Flags, type Invocation, isSet } from '../grammar/grammar.ts'
import { Output } from '../output/output.ts'
import { safeText } from '../text/safe.ts'

const labels = { ok: 'ok     ', note: 'note   ', login: 'sign in', failed: 'FAILED ' } as const

export async function run(invocation: Invocation, io: Io): Promise<number> {
  const output = new Output(io, invocation.flags)
  const findings: Finding[] = []
  for await (const finding of findingsFor(invocation, io, output)) {
    findings.push(finding)
    if (!output.isJson) output.item(textOf(finding, output), finding)
    else if (output.isJsonLines) output.item('', finding)
  }
  const deleted = isSet(invocation.flags, 'fix') ? await fix(findings, invocation.flags, io, output) : []
  const failed = findings.filter(({ state, npxFolder = '' }) => state === 'failed' && !deleted.includes(npxFolder))
  if (output.isJson && !output.isJsonLines) output.result('', { ok: failed.length === 0, findings, deleted })
  if (!output.isJson)
    output.note(failed.length === 0 ? '\nAll checks passed.' : `\n${failed.length} of ${findings.length} checks failed.`)
  return failed.length === 0 ? exit.ok : exit.failed
}

/** Deletes incomplete npx cache folders and restarts the affected servers. Returns the folders. */
async function fix(findings: readonly Finding[], flags: Flags, io: Io, output: Output): Promise<readonly string[]> {
  const folders = [...new Set(findings.flatMap(({ npxFolder }) => npxFolder ?? []))]
  if (folders.length === 0) {
    output.note('\nNothing to fix.')
    return []
  }
  await deleteNpxFolders(folders, flags, io)
  for (const folder of folders) output.note(`Deleted ${safeText(folder)}; npx reinstalls it on the next start.`)
  const restarted = await restartServers(({ lastError = '' }) => folders.some((folder) => lastError.includes(folder)), io)
  if (restarted.length > 0) output.note(`Restarting: ${restarted.map((name) => safeText(name)).join(', ')}`)
  return folders
}

function textOf({ state, about, message, next }: Finding, { style }: Output): string {
  const paint = { ok: style.green, note: style.dim, login: style.yellow, failed: style.red }[state]
  const line = `${paint(labels[state])}  ${safeText(about)}: ${safeText(message, { lines: true, limit: 2_000 })}`
  return next === undefined ? line : `${line}\n         next: ${safeText(next, { limit: 500 })}`
}
