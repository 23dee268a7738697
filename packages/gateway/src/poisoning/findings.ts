import { hash } from 'node:crypto'
import { setImmediate as pause } from 'node:timers/promises'
import type { Clock } from '@unfold-mcp/client'
import { printable } from '@unfold-mcp/core'
import type { Log } from '../base/log.ts'
import { clonesAmong, type Described } from './clones.ts'
import { type Suspicion, suspicionOf } from './finding.ts'
import { KnownNames } from './mentions.ts'
import { onceEach, type Scanned, scanned } from './scan.ts'

/** Something that a server says, of a tool or beside its tools. */
export interface Saying {
  /** The same object for as long as it says the same. */
  readonly key: object
  /** The server's own name for the tool; left out for what belongs to none. */
  readonly tool?: string
  readonly said: object
}

/** A server with all that it says. */
export interface Suspect {
  readonly server: string
  readonly slug: string
  readonly sayings: readonly Saying[]
}

export interface SuspicionsOptions {
  readonly suspects: () => readonly Suspect[]
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
const mostCharacters = 4_194_304
const mostSuspicions = 1_000
const mostLines = 100

/** What looks suspicious in the texts of all servers, kept true as they change. Nothing is blocked; it is told. */
export class Suspicions {
  readonly #options: SuspicionsOptions
  readonly #known = new WeakMap<object, Scanned>()
  readonly #told = new Map<string, Set<string>>()
  #found: ReadonlyMap<string, readonly Suspicion[]> = new Map()
  #isDirty = false
  #isClosed = false
  #cancel: (() => void) | undefined
  #looking: Promise<void> | undefined

  constructor(options: SuspicionsOptions) {
    this.#options = options
  }

  /** What is known of a server; `settled` makes it true. */
  of(server: string): readonly Suspicion[] {
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
    const suspects = this.#options.suspects()
    const own = new Map<Saying, Scanned>()
    const unread = new Map<string, number>()
    const breathe = breathing()
    for (const { server, sayings } of suspects) {
      let room = mostCharacters
      for (const saying of sayings) {
        if (this.#isClosed) return
        if (room > 0) own.set(saying, this.#scan(saying))
        else unread.set(server, (unread.get(server) ?? 0) + 1)
        room -= own.get(saying)?.characters ?? 0
        await breathe()
      }
    }
    const found = new Map<string, readonly Suspicion[]>()
    const names = namesOf(suspects)
    await breathe()
    const clones = await clonesAmong(described(suspects), { isSame: this.#options.isSame, breathe })
    const cloned = new Map([...clones].map(([{ saying }, suspicion]) => [saying, suspicion]))
    for (const { server, sayings } of suspects) {
      const all: Suspicion[] = []
      for (const saying of sayings) {
        const { suspicions = [], orders = [] } = own.get(saying) ?? {}
        await breathe()
        const clone = cloned.get(saying)
        const shadows = orders.flatMap((order) => names.suspicion(server, order) ?? [])
        const together = onceEach([...suspicions, ...shadows, ...(clone === undefined ? [] : [clone])])
        if (together.length === 0) continue
        const { tool } = saying
        const named = tool === undefined ? together : together.map((each) => ({ tool: printable(tool), ...each }))
        all.push(...named)
        this.#tell(server, saying, named)
      }
      const left = unread.get(server)
      if (left !== undefined)
        all.push(suspicionOf('unread', { surface: 'text', excerpt: `${left} of ${sayings.length} were not looked at` }))
      if (all.length > 0) found.set(server, all.slice(0, mostSuspicions))
    }
    this.#found = found
  }

  #scan({ key, said }: Saying): Scanned {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const made = scanned(said)
    this.#known.set(key, made)
    return made
  }

  /** Once for the same definition, however often it comes and goes. */
  #tell(server: string, { said }: Saying, suspicions: readonly Suspicion[]): void {
    const { log } = this.#options
    const told = this.#told.get(server) ?? new Set()
    this.#told.set(server, told)
    if (told.size > mostLines) return
    const about = suspicions.map(({ rule, tool, surface }) => `${rule} ${tool ?? ''} ${surface}`)
    const id = hash('sha256', JSON.stringify([said, about]), 'hex')
    if (told.has(id)) return
    told.add(id)
    if (told.size > mostLines)
      log.warn({ upstream: server }, `says more that looks suspicious than is told here: ${seeMore(server)}`)
    else
      log.warn(
        { upstream: server, event: 'suspicion', suspicions },
        `${wordsOf(suspicions)} Nothing is blocked: ${seeMore(server)}`,
      )
  }
}

/** Lets others work for a moment, when it is time. */
function breathing(): () => Promise<void> {
  let begun = performance.now()
  return async () => {
    if (performance.now() - begun < sliceMs) return
    await pause()
    begun = performance.now()
  }
}

const seeMore = (server: string): string => `unfold status ${printable(server)}`

function wordsOf([first, ...others]: readonly Suspicion[]): string {
  if (first === undefined) return ''
  const { tool, surface, about, excerpt } = first
  const what = tool === undefined ? 'says something that looks suspicious' : `has a tool that looks suspicious, "${tool}"`
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `${what}: its ${surface} ${about} ("${excerpt}")${more}.`
}

function namesOf(suspects: readonly Suspect[]): KnownNames {
  const names = new KnownNames()
  for (const { server, slug, sayings } of suspects)
    names.add(
      server,
      slug,
      sayings.flatMap(({ tool }) => tool ?? []),
    )
  return names
}

function described(suspects: readonly Suspect[]): readonly (Described & { readonly saying: Saying })[] {
  return suspects.flatMap(({ server, sayings }) =>
    sayings.flatMap((saying) => {
      const { tool, said } = saying
      const { description } = said as { readonly description?: unknown }
      return tool === undefined || typeof description !== 'string' ? [] : [{ server, tool, description, saying }]
    }),
  )
}
