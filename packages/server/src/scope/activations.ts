import {
  type Activation,
  type GroupCost,
  type Groups,
  initialActivation,
  nothingActive,
  type Plan,
  planAll,
  planDeactivate,
  reconcile,
} from '@unfold-mcp/core'
import { type Declaration, rememberFor } from '../catalog/declaration.ts'
import { parseActivation } from '../stores/store.ts'
import type { Principal } from '../tool/principal.ts'
import { type GroupHooks, runHooks } from '../tool/transition.ts'
import { Cell } from './scope.ts'

const principalsInMemory = 10_000

/** The activations behind a runtime's scopes: how each begins, changes, is kept and ends. */
export class Activations {
  readonly #declaration: Declaration
  readonly #currentGroups: () => Groups
  readonly #principals = new Map<string, Promise<Cell>>()
  #shared: Promise<Cell> | undefined

  constructor(declaration: Declaration, groups: () => Groups) {
    this.#declaration = declaration
    this.#currentGroups = groups
  }

  get #groups(): Groups {
    return this.#currentGroups()
  }

  /** A session's own: the groups it starts with, or what its principal had last time, and what it asked for when it connected. */
  async session(
    key: string,
    { principal, start, asked }: { principal: Principal | undefined; start: readonly string[]; asked: Activation },
    cost: GroupCost,
  ): Promise<Cell> {
    const remember = rememberFor(this.#declaration, principal)
    const cell = new Cell(key, { ...asked, groups: [] }, remember === 'reconnect' ? keyOf(principal) : undefined)
    const remembered = cell.savedAs === undefined ? undefined : await this.#load(cell.savedAs)
    if (remembered !== undefined) cell.activation = { ...cell.activation, tools: remembered.tools }
    await this.#start(cell, remembered?.groups ?? start, cost)
    await this.#start(cell, asked.groups, cost)
    return cell
  }

  /** The one that all sessions and requests of a principal share. */
  principal(id: string, cost: GroupCost): Promise<Cell> {
    const key = `principal:${id}`
    const found = this.#principals.get(key)
    if (found !== undefined) return found
    const made = (async () => {
      const cell = new Cell(key, nothingActive, key)
      const saved = await this.#load(key)
      if (saved !== undefined) cell.activation = { ...cell.activation, tools: saved.tools }
      await this.#start(cell, saved?.groups ?? initialActivation(this.#groups).groups, cost)
      return cell
    })()
    this.#principals.set(key, made)
    if (this.#principals.size > principalsInMemory) void this.#forgetOne()
    return made
  }

  /** The one that all stateless clients share: groups with hooks are active from the first request on. */
  shared(cost: GroupCost): Promise<Cell> {
    this.#shared ??= (async () => {
      const cell = new Cell('world', nothingActive)
      for (const { name, strict } of this.#groups.byName.values()) if (strict) await this.#start(cell, [name], cost)
      return cell
    })()
    return this.#shared
  }

  /** Makes a transition: hooks first, then the activation, then the store. Transitions of one cell never overlap. */
  change<T>(cell: Cell, plan: (activation: Activation) => Plan, result: (made: Plan) => T): Promise<T> {
    return cell.exclusively(async () => {
      // What is prepared for a client that left would never be released.
      if (cell.isOver) return result({ next: cell.activation, on: [], off: [] })
      const { tools } = cell.activation
      const made = await this.#commit(cell, plan)
      if (made.on.length + made.off.length > 0 || made.next.tools !== tools) await this.#save(cell)
      return result(made)
    })
  }

  /** Ends an activation that nobody uses any more: what hooks prepared is released. */
  async release(cell: Cell): Promise<void> {
    // A transition that is under way may yet switch a group on.
    await cell.exclusively(async () => {
      cell.isOver = true
    })
    const withHooks = cell.activation.groups.filter((name) => this.#hooksOf(name) !== undefined)
    for (const name of withHooks.toReversed()) {
      try {
        await cell.exclusively(() => this.#commit(cell, (activation) => planDeactivate(this.#groups, activation, name)))
      } catch (error) {
        this.#report(`Closing ${cell.key}: group "${name}" could not be deactivated.`, error)
      }
    }
  }

  /** Releases what outlives single sessions. */
  async stop(): Promise<void> {
    const cells = await Promise.all([...this.#principals.values(), ...(this.#shared === undefined ? [] : [this.#shared])])
    for (const cell of cells) await this.release(cell)
  }

  /** Switches groups on for a cell nobody uses yet; one whose hook fails stays off, and its activator can try again. */
  async #start(cell: Cell, groups: readonly string[], cost: GroupCost): Promise<void> {
    const plan = (names: readonly string[]) => (activation: Activation) => planAll(this.#groups, activation, names, cost)
    if (groups.length === 0) return
    if (!plan(groups)(cell.activation).on.some((name) => this.#hooksOf(name) !== undefined)) {
      cell.activation = plan(groups)(cell.activation).next
      return
    }
    for (const name of groups) {
      try {
        await cell.exclusively(() => this.#commit(cell, plan([name])))
      } catch (error) {
        this.#report(`Group "${name}" could not be activated for ${cell.key}.`, error)
      }
    }
  }

  async #commit(cell: Cell, plan: (activation: Activation) => Plan): Promise<Plan> {
    const made = plan(cell.activation)
    const { hookTimeoutMs, report } = this.#declaration
    await runHooks(made, cell.key, { hooksOf: (name) => this.#hooksOf(name), timeoutMs: hookTimeoutMs, report })
    cell.activation = made.next
    return made
  }

  /** Lets go of the principal that came first among those with nobody connected; the store has what they activated. */
  async #forgetOne(): Promise<void> {
    for (const [key, cell] of this.#principals) {
      const { scopes, activation } = await cell
      if (scopes.size > 0 || activation.groups.some((name) => this.#hooksOf(name) !== undefined)) continue
      this.#principals.delete(key)
      return
    }
  }

  #hooksOf(name: string): GroupHooks | undefined {
    return this.#declaration.groups[name]?.hooks
  }

  #report(message: string, error: unknown): void {
    this.#declaration.report({ reason: 'hook_failed', message, error })
  }

  async #load(key: string): Promise<Activation | undefined> {
    try {
      const saved = parseActivation(await this.#declaration.store.load(key))
      return saved === undefined ? undefined : reconcile(this.#groups, saved)
    } catch (error) {
      const message = `The activation of ${key} could not be read; it starts anew.`
      this.#declaration.report({ reason: 'store_failed', message, error })
      return undefined
    }
  }

  async #save(cell: Cell): Promise<void> {
    if (cell.savedAs === undefined) return
    try {
      await this.#declaration.store.save(cell.savedAs, cell.activation)
    } catch (error) {
      const message = `The activation of ${cell.savedAs} could not be saved; it holds until the server stops.`
      this.#declaration.report({ reason: 'store_failed', message, error })
    }
  }
}

const keyOf = (principal: Principal | undefined): string | undefined =>
  principal === undefined ? undefined : `principal:${principal.id}`
