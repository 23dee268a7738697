import type { Clock } from '@unfold-mcp/client'
import { printable } from '@unfold-mcp/core'
import type { Log } from '../base/log.ts'
import { Slices } from '../base/slices.ts'
import { type DescribedTool, findClones } from './clones.ts'
import { type Finding, findingOf } from './finding.ts'
import { FindingLog } from './finding-log.ts'
import { ToolMentions } from './mentions.ts'
import { firstPerRule, type ScanResult, scanDefinition } from './scan.ts'

/** A definition or text of a server. */
export interface CheckedDefinition {
  /** Cache key: the same object while the definition is unchanged. */
  readonly key: object
  /** Name of the tool on the server; absent for other text. */
  readonly tool?: string
  readonly definition: object
}

/** A server with everything it sends to clients. */
export interface Subject {
  readonly server: string
  readonly slug: string
  readonly definitions: readonly CheckedDefinition[]
}

export interface PoisoningChecksOptions {
  readonly subjects: () => readonly Subject[]
  /** True if two servers run the same program. */
  readonly isSameProgram: (server: string, other: string) => boolean
  /** Called with the event-loop time that a server's changes caused. */
  readonly charge?: (server: string, ms: number) => void
  readonly clock: Clock
  readonly log: Log
}

// Changes come in bursts.
const debounceMs = 50
// Per server: far more than real servers have.
const maxCharacters = 4_194_304
const maxFindings = 1_000

/** Scans the text of all servers for signs of tool poisoning, again after every change. Findings are reported, not blocked. */
export class PoisoningChecks {
  readonly #options: PoisoningChecksOptions
  readonly #scans = new WeakMap<object, ScanResult>()
  readonly #findingLog: FindingLog
  #findings: ReadonlyMap<string, readonly Finding[]> = new Map()
  #isDirty = false
  /** Servers that changed since the last check began. */
  #changed = new Set<string>()
  #isClosed = false
  #cancel: (() => void) | undefined
  #checking: Promise<void> | undefined

  constructor(options: PoisoningChecksOptions) {
    this.#options = options
    this.#findingLog = new FindingLog(options)
  }

  /** Findings of a server; complete after `settled`. */
  findings(server: string): readonly Finding[] {
    return this.#findings.get(server) ?? []
  }

  /** Schedules a check after a change; `server`: the one that changed. */
  invalidate(server?: string): void {
    this.#isDirty = true
    if (server !== undefined) this.#changed.add(server)
    if (this.#checking !== undefined || this.#isClosed) return
    this.#cancel ??= this.#options.clock.after(debounceMs, () => void this.settled(), true)
  }

  /** Resolves when all changes up to now have been checked. */
  async settled(): Promise<void> {
    // A running check may have started before the last change; the next one has not. Two suffice even if changes never stop.
    for (let checks = 0; checks < 2 && (this.#isDirty || this.#checking !== undefined) && !this.#isClosed; checks++) {
      this.#cancel?.()
      this.#cancel = undefined
      this.#checking ??= this.#check()
        .catch(this.#failed)
        .finally(() => {
          this.#checking = undefined
          if (this.#isDirty) this.invalidate()
        })
      await this.#checking
    }
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
    this.#findingLog.close()
  }

  readonly #failed = (error: unknown): void =>
    this.#options.log.error({ error }, 'poisoning check failed; the tools are still served')

  async #check(): Promise<void> {
    this.#isDirty = false
    const slices = new Slices(this.#chargeTo(this.#changed))
    this.#changed = new Set()
    try {
      await this.#checkAll(() => slices.next())
    } finally {
      slices.end()
    }
  }

  async #checkAll(yieldToEventLoop: () => Promise<void>): Promise<void> {
    const { isSameProgram } = this.#options
    const subjects = this.#options.subjects()
    const scans = new Map<CheckedDefinition, ScanResult>()
    const skipped = new Map<string, number>()
    for (const { server, definitions } of subjects) {
      let remaining = maxCharacters
      for (const checked of definitions) {
        if (this.#isClosed) return
        if (remaining > 0) scans.set(checked, this.#scan(checked))
        else skipped.set(server, (skipped.get(server) ?? 0) + 1)
        remaining -= scans.get(checked)?.characters ?? 0
        await yieldToEventLoop()
      }
    }
    const mentions = toolMentions(subjects)
    await yieldToEventLoop()
    const cloneFindings = await findClones(describedTools(subjects), { isSameProgram, yieldToEventLoop })
    const clones = new Map([...cloneFindings].map(([{ checked }, finding]) => [checked, finding]))
    const findingsByServer = new Map<string, readonly Finding[]>()
    for (const { server, definitions } of subjects) {
      const serverFindings: Finding[] = []
      for (const checked of definitions) {
        const { findings = [], instructions = [] } = scans.get(checked) ?? {}
        await yieldToEventLoop()
        const clone = clones.get(checked)
        const shadowing = instructions.flatMap((instruction) => mentions.finding(server, instruction) ?? [])
        const combined = firstPerRule([...findings, ...shadowing, ...(clone === undefined ? [] : [clone])])
        if (combined.length === 0) continue
        const { tool } = checked
        const named = tool === undefined ? combined : combined.map((each) => ({ tool: printable(tool), ...each }))
        // Each definition keeps at least one, however many there are.
        serverFindings.push(...(serverFindings.length < maxFindings ? named : named.slice(0, 1)))
        this.#findingLog.add(server, checked.definition, named)
      }
      const count = skipped.get(server)
      if (count !== undefined)
        serverFindings.push(findingOf('unread', { path: 'text', excerpt: `${count} of ${definitions.length} not checked` }))
      if (serverFindings.length > 0) findingsByServer.set(server, serverFindings)
    }
    this.#findings = findingsByServer
    this.#findingLog.flush()
  }

  /** A change makes everything be compared again, so the servers that changed share the whole cost. */
  #chargeTo(servers: ReadonlySet<string>): (ms: number) => void {
    const { charge } = this.#options
    return (ms) => {
      for (const server of servers) charge?.(server, ms / servers.size)
    }
  }

  #scan({ key, definition }: CheckedDefinition): ScanResult {
    const cached = this.#scans.get(key)
    if (cached !== undefined) return cached
    const scan = scanDefinition(definition)
    this.#scans.set(key, scan)
    return scan
  }
}

function toolMentions(subjects: readonly Subject[]): ToolMentions {
  const mentions = new ToolMentions()
  for (const { server, slug, definitions } of subjects)
    mentions.add(
      server,
      slug,
      definitions.flatMap(({ tool }) => tool ?? []),
    )
  return mentions
}

function describedTools(subjects: readonly Subject[]): readonly (DescribedTool & { readonly checked: CheckedDefinition })[] {
  return subjects.flatMap(({ server, definitions }) =>
    definitions.flatMap((checked) => {
      const { tool } = checked
      const { description } = checked.definition as { readonly description?: unknown }
      return tool === undefined || typeof description !== 'string' ? [] : [{ server, tool, description, checked }]
    }),
  )
}
