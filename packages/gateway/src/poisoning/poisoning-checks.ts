import { hash } from 'node:crypto'
import { setImmediate as pause } from 'node:timers/promises'
import type { Clock } from '@unfold-mcp/client'
import { printable } from '@unfold-mcp/core'
import type { Log } from '../base/log.ts'
import { findClones, type DescribedTool } from './clones.ts'
import { type Finding, findingOf } from './finding.ts'
import { ToolMentions } from './mentions.ts'
import { firstPerRule, type ScanResult, scanDefinition } from './scan.ts'

/** Something that a server says, of a tool or beside its tools. */
export interface CheckedDefinition {
  /** The same object for as long as it says the same. */
  readonly key: object
  /** The server's own name for the tool; left out for what belongs to none. */
  readonly tool?: string
  readonly said: object
}

/** A server with all that it says. */
export interface Subject {
  readonly server: string
  readonly slug: string
  readonly definitions: readonly CheckedDefinition[]
}

export interface PoisoningChecksOptions {
  readonly subjects: () => readonly Subject[]
  /** Whether two servers are one, configured twice. */
  readonly isSame: (server: string, other: string) => boolean
  readonly clock: Clock
  readonly log: Log
}

// Changes come in groups, and whoever follows them comes first.
const quietMs = 50
// Calls are answered in between.
const sliceMs = 8
// How much text of one server is looked at: far more than servers have, and less than keeps a processor busy.
const maxCharacters = 4_194_304
const maxFindings = 1_000
const maxLogLines = 100

/** What looks suspicious in the texts of all servers, kept true as they change. Nothing is blocked; it is told. */
export class PoisoningChecks {
  readonly #options: PoisoningChecksOptions
  readonly #known = new WeakMap<object, ScanResult>()
  readonly #told = new Map<string, Set<string>>()
  #found: ReadonlyMap<string, readonly Finding[]> = new Map()
  #isDirty = false
  #isClosed = false
  #cancel: (() => void) | undefined
  #looking: Promise<void> | undefined

  constructor(options: PoisoningChecksOptions) {
    this.#options = options
  }

  /** What is known of a server; `settled` makes it true. */
  of(server: string): readonly Finding[] {
    return this.#found.get(server) ?? []
  }

  /** A server may say something else now. */
  changed(): void {
    this.#isDirty = true
    if (this.#looking !== undefined || this.#isClosed) return
    this.#cancel ??= this.#options.clock.after(quietMs, () => void this.settled(), true)
  }

  /** Resolves when all that was said until now has been looked at, as far as that can be done. */
  async settled(): Promise<void> {
    // A look that runs may have begun before something was said, the one after it has not; a server may go on for ever.
    for (let looks = 0; looks < 2 && (this.#isDirty || this.#looking !== undefined) && !this.#isClosed; looks++) {
      this.#cancel?.()
      this.#cancel = undefined
      this.#looking ??= this.#look()
        .catch(this.#failed)
        .finally(() => {
          this.#looking = undefined
          if (this.#isDirty) this.changed()
        })
      await this.#looking
    }
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  readonly #failed = (error: unknown): void =>
    this.#options.log.error({ error }, 'What the servers say could not be looked at; their tools are served all the same.')

  async #look(): Promise<void> {
    this.#isDirty = false
    const subjects = this.#options.subjects()
    const own = new Map<CheckedDefinition, ScanResult>()
    const unread = new Map<string, number>()
    const yieldToEventLoop = cooperativeYield()
    for (const { server, definitions } of subjects) {
      let room = maxCharacters
      for (const saying of definitions) {
        if (this.#isClosed) return
        if (room > 0) own.set(saying, this.#scan(saying))
        else unread.set(server, (unread.get(server) ?? 0) + 1)
        room -= own.get(saying)?.characters ?? 0
        await yieldToEventLoop()
      }
    }
    const found = new Map<string, readonly Finding[]>()
    const names = namesOf(subjects)
    await yieldToEventLoop()
    const clones = await findClones(described(subjects), { isSame: this.#options.isSame, yieldToEventLoop })
    const cloned = new Map([...clones].map(([{ saying }, finding]) => [saying, finding]))
    for (const { server, definitions } of subjects) {
      const all: Finding[] = []
      for (const saying of definitions) {
        const { findings = [], orders = [] } = own.get(saying) ?? {}
        await yieldToEventLoop()
        const clone = cloned.get(saying)
        const shadows = orders.flatMap((order) => names.finding(server, order) ?? [])
        const together = firstPerRule([...findings, ...shadows, ...(clone === undefined ? [] : [clone])])
        if (together.length === 0) continue
        const { tool } = saying
        const named = tool === undefined ? together : together.map((each) => ({ tool: printable(tool), ...each }))
        all.push(...named)
        this.#tell(server, saying, named)
      }
      const left = unread.get(server)
      if (left !== undefined)
        all.push(findingOf('unread', { surface: 'text', excerpt: `${left} of ${definitions.length} were not looked at` }))
      if (all.length > 0) found.set(server, all.slice(0, maxFindings))
    }
    this.#found = found
  }

  #scan({ key, said }: CheckedDefinition): ScanResult {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const made = scanDefinition(said)
    this.#known.set(key, made)
    return made
  }

  /** Once for the same definition, however often it comes and goes. */
  #tell(server: string, { said }: CheckedDefinition, findings: readonly Finding[]): void {
    const { log } = this.#options
    const told = this.#told.get(server) ?? new Set()
    this.#told.set(server, told)
    if (told.size > maxLogLines) return
    const about = findings.map(({ rule, tool, surface }) => `${rule} ${tool ?? ''} ${surface}`)
    const id = hash('sha256', JSON.stringify([said, about]), 'hex')
    if (told.has(id)) return
    told.add(id)
    if (told.size > maxLogLines)
      log.warn({ upstream: server }, `says more that looks suspicious than is told here: ${seeMore(server)}`)
    else
      log.warn(
        { upstream: server, event: 'finding', findings },
        `${errorMessage(findings)} Nothing is blocked: ${seeMore(server)}`,
      )
  }
}

/** Lets others work for a moment, when it is time. */
function cooperativeYield(): () => Promise<void> {
  let begun = performance.now()
  return async () => {
    if (performance.now() - begun < sliceMs) return
    await pause()
    begun = performance.now()
  }
}

const seeMore = (server: string): string => `unfold status ${printable(server)}`

function errorMessage([first, ...others]: readonly Finding[]): string {
  if (first === undefined) return ''
  const { tool, surface, about, excerpt } = first
  const what = tool === undefined ? 'says something that looks suspicious' : `has a tool that looks suspicious, "${tool}"`
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `${what}: its ${surface} ${about} ("${excerpt}")${more}.`
}

function namesOf(subjects: readonly Subject[]): ToolMentions {
  const names = new ToolMentions()
  for (const { server, slug, definitions } of subjects)
    names.add(
      server,
      slug,
      definitions.flatMap(({ tool }) => tool ?? []),
    )
  return names
}

function described(subjects: readonly Subject[]): readonly (DescribedTool & { readonly saying: CheckedDefinition })[] {
  return subjects.flatMap(({ server, definitions }) =>
    definitions.flatMap((saying) => {
      const { tool, said } = saying
      const { description } = said as { readonly description?: unknown }
      return tool === undefined || typeof description !== 'string' ? [] : [{ server, tool, description, saying }]
    }),
  )
}
