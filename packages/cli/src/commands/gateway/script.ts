import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, parse, resolve } from 'node:path'
import { isRecord, nearest, nearestHint } from '@unfold-mcp/core'
import type { ToolReport } from '@unfold-mcp/gateway'
import type { AuditRecord } from '@unfold-mcp/gateway/audit'
import type { WrittenConfig } from '@unfold-mcp/gateway/config'
import type { CaseReport, ScriptFile } from '@unfold-mcp/gateway/scripts'
import { CommandError, exit, usageError } from '../../base/exit.ts'
import { fileExists } from '../../base/file-exists.ts'
import type { Io } from '../../base/io.ts'
import { requireConfig } from '../../gateway/config-file.ts'
import { fromGateway } from '../../gateway/running.ts'
import { type Flags, type Invocation, textOf } from '../../grammar/grammar.ts'
import { subcommandOf } from '../../grammar/subcommand.ts'
import { Output } from '../../output/output.ts'
import { plural } from '../../text/number.ts'
import { safeText } from '../../text/safe.ts'
import { tableLines } from '../../text/table.ts'

type Subcommand = (values: readonly string[], flags: Flags, io: Io) => Promise<number>

const subcommands: { readonly [name: string]: Subcommand } = { list, test, from }
const usage = 'unfold script list, unfold script test [<name>], unfold script from <audit id> [<name>]'

export async function run({ positionals, flags }: Invocation, io: Io): Promise<number> {
  const [name, ...values] = positionals
  return subcommandOf('script', name, { subcommands, usage })(values, flags, io)
}

interface Place {
  readonly file: string
  readonly folder: string
  readonly config: WrittenConfig
}

async function placeOf(flags: Flags, io: Io): Promise<Place> {
  const file = await requireConfig(textOf(flags, 'config'), io)
  const { scriptSettings, writtenConfig } = await import('@unfold-mcp/gateway/config')
  const config = await writtenConfig(file)
  const settings = scriptSettings(config)
  if (settings !== undefined) return { file, folder: resolve(dirname(file), settings.folder), config }
  throw new CommandError(
    exit.usage,
    'no_scripts',
    `Scripts are turned off in ${file}. Remove "scripts": false and "code": false.`,
  )
}

const openScripts = async () => (await import('@unfold-mcp/gateway/scripts')).openScripts()

async function list(values: readonly string[], flags: Flags, io: Io): Promise<number> {
  if (values.length > 0) throw usageError('Usage: unfold script list')
  const output = new Output(io, flags)
  const { file, folder } = await placeOf(flags, io)
  await using opened = await openScripts()
  const { scripts, problems } = await opened.read(folder)
  const tools = await fromGateway<ToolReport>(file, 'tools', io)
  const served = new Set(tools?.flatMap(({ upstream, tool }) => (upstream === 'scripts' ? [tool] : [])))
  const stateOf = ({ name }: ScriptFile): 'served' | 'held' | undefined =>
    tools === undefined ? undefined : served.has(name) ? 'served' : 'held'
  const rows = scripts.map((script) => [
    output.style.bold(script.name),
    ...(tools === undefined ? [] : [stateOf(script) === 'served' ? 'served' : output.style.yellow('waits for review')]),
    safeText(script.declaration.description),
  ])
  const lines = scripts.length === 0 ? [`No scripts in ${safeText(folder)}.`] : tableLines(rows, { width: output.width })
  output.result(lines.join('\n'), {
    folder,
    scripts: scripts.map((script) => ({
      name: script.name,
      file: script.file,
      description: script.declaration.description,
      ...(tools !== undefined && { state: stateOf(script) }),
    })),
    problems,
  })
  if (output.isJson) return problems.length === 0 ? exit.ok : exit.failed
  for (const problem of problems) output.note(safeText(problemText(problem)))
  if (scripts.some((script) => stateOf(script) === 'held')) output.note('Review them: unfold review scripts')
  return problems.length === 0 ? exit.ok : exit.failed
}

const problemText = ({ file, line, column, message }: { file: string; line: number; column: number; message: string }): string =>
  `${file}:${line}:${column} ${message}`

const casesFile = (folder: string, name: string): string => join(folder, `${name}.calls.json`)

async function test(values: readonly string[], flags: Flags, io: Io): Promise<number> {
  const [name, ...others] = values
  if (others.length > 0) throw usageError('Usage: unfold script test [<name>]')
  const output = new Output(io, flags)
  const { folder } = await placeOf(flags, io)
  await using opened = await openScripts()
  const { scripts, problems } = await opened.read(folder)
  const chosen = await chosenScripts({ name, folder, scripts, problems })
  const reports: (CaseReport & { readonly script: string })[] = []
  for (const script of chosen) {
    const cases = await casesOf(casesFile(folder, script.name), script.name)
    const stripped = await opened.stripper.strip(script.code, { isModule: true })
    if ('error' in stripped) throw new CommandError(exit.failed, 'invalid_script', `${script.file}: ${stripped.error.message}`)
    const { runRecorded } = await import('@unfold-mcp/gateway/scripts')
    for (const [at, each] of cases.entries()) {
      const report = await runRecorded(stripped.source, { name: `test ${at + 1}`, ...each }, opened.engine)
      reports.push({ script: script.name, ...report })
    }
  }
  const failed = reports.filter(({ isPassed }) => !isPassed).length
  output.result(
    [
      ...reports.flatMap((report) => reportLines(report, output)),
      failed === 0 ? `${plural(reports.length, 'test')} passed` : `${failed} of ${plural(reports.length, 'test')} failed`,
    ].join('\n'),
    { isPassed: failed === 0, tests: reports },
  )
  return failed === 0 ? exit.ok : exit.failed
}

function reportLines(
  { script, name, isPassed, problems, output: lines }: CaseReport & { readonly script: string },
  output: Output,
) {
  const { style } = output
  return [
    `${isPassed ? style.green('passed') : style.red('failed')}  ${safeText(script)}: ${safeText(name)}`,
    ...problems.map((problem) => `  ${safeText(problem)}`),
    ...(isPassed ? [] : lines.map((line) => style.dim(`  > ${safeText(line)}`))),
  ]
}

interface Choice {
  readonly name: string | undefined
  readonly folder: string
  readonly scripts: readonly ScriptFile[]
  readonly problems: readonly {
    readonly file: string
    readonly line: number
    readonly column: number
    readonly message: string
  }[]
}

/** The named script, or all that have recorded calls. */
async function chosenScripts({ name, folder, scripts, problems }: Choice): Promise<readonly ScriptFile[]> {
  const found = scripts.find((script) => script.name === name)
  if (found !== undefined) return [found]
  for (const problem of problems) {
    const broken = parse(problem.file).name
    if (broken === name || (name === undefined && (await fileExists(casesFile(folder, broken)))))
      throw new CommandError(exit.failed, 'invalid_script', problemText(problem))
  }
  if (name !== undefined) {
    const hint = nearestHint(
      nearest(
        name,
        scripts.map((script) => script.name),
      ),
    )
    throw new CommandError(exit.usage, 'unknown_script', `There is no script "${name}" in ${folder}.${hint}`)
  }
  const recorded = await Promise.all(scripts.map((script) => fileExists(casesFile(folder, script.name))))
  const tested = scripts.filter((_, at) => recorded[at])
  if (tested.length > 0) return tested
  throw new CommandError(
    exit.usage,
    'no_recorded_calls',
    `No script in ${folder} has recorded calls. Write them to ${casesFile(folder, '<name>')}.`,
  )
}

async function casesOf(file: string, name: string) {
  const { parseCases } = await import('@unfold-mcp/gateway/scripts')
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined)
    throw new CommandError(exit.usage, 'no_recorded_calls', `The script "${name}" has no recorded calls. Write them to ${file}.`)
  try {
    return parseCases(text)
  } catch (error) {
    throw new CommandError(
      exit.usage,
      'invalid_recorded_calls',
      `${file}: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

async function from(values: readonly string[], flags: Flags, io: Io): Promise<number> {
  const [id, name = `script_${id?.slice(0, 8)}`, ...others] = values
  if (id === undefined || others.length > 0) throw usageError('Usage: unfold script from <audit id> [<name>]')
  const output = new Output(io, flags)
  const { file, folder, config } = await placeOf(flags, io)
  const { scriptFrom, scriptName } = await import('@unfold-mcp/gateway/scripts')
  if (!scriptName(name)) throw usageError('The name of a script has 1 to 64 letters, digits, underscores and hyphens.')
  const { code, input } = codeIn(await runWith(id, file, config))
  const target = join(folder, `${name}.ts`)
  if (await fileExists(target))
    throw new CommandError(exit.usage, 'exists', `${target} exists. Choose another name: unfold script from ${id} <name>`)
  await mkdir(folder, { recursive: true })
  await writeFile(target, scriptFrom(code, input), { flag: 'wx' })
  output.result(`Created ${safeText(target)}. Describe it there; then it waits for review: unfold review scripts`, {
    name,
    file: target,
  })
  return exit.ok
}

/** The record of a run, by the ID of the run or the number of the record. */
async function runWith(id: string, file: string, { audit }: WrittenConfig): Promise<AuditRecord> {
  if (audit === undefined)
    throw new CommandError(exit.usage, 'no_audit', `${file} has no audit log, in which the code of scripts could be found.`)
  const { lastRecords } = await import('@unfold-mcp/gateway/audit')
  const [record] = await lastRecords(resolve(dirname(file), audit.path), {
    limit: 1,
    matches: ({ type, script, seq, outcome }) =>
      type === 'script' && outcome !== 'paused' && (script === id || String(seq) === id),
  })
  if (record !== undefined) return record
  throw new CommandError(
    exit.failed,
    'unknown_run',
    `The audit log has no script run "${id}". Find its ID, or the number of its record, with: unfold audit --type script`,
  )
}

function codeIn({ outcome, stored, arguments: given }: AuditRecord): { readonly code: string; readonly input: unknown } {
  if (typeof stored === 'string')
    throw new CommandError(exit.failed, 'stored_script', `That run was of the stored script "${stored}".`)
  if (outcome !== 'returned')
    throw new CommandError(exit.failed, 'failed_run', 'That script failed. Choose a run with the outcome "returned".')
  const { code, input } = isRecord(given) ? given : {}
  // With "mask", only the length of the code is recorded.
  if (typeof code === 'string' && !/^\[\d+ characters\]$/u.test(code)) return { code, input }
  throw new CommandError(
    exit.failed,
    'code_not_recorded',
    'The audit log does not contain the code. Record it from now on with "audit": { …, "tools": { "run_code": "full" } }.',
  )
}
