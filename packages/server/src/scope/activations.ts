import {
  type Activation,
  type GroupCost,
  type Groups,
  initialActivation,
  nothingActive,
  type Plan,
  planActivateAll,
  planDeactivate,
  reconcile,
} from '@unfold-mcp/core'
import { type Declaration, rememberFor } from '../catalog/declaration.ts'
import type { GroupHooks } from '../catalog/group-hooks.ts'
import { parseActivation } from '../stores/store.ts'
import type { Principal } from '../tool/principal.ts'
import { runHooks } from './run-hooks.ts'
import { ActivationState } from './scope.ts'

const principalsInMemory = 10_000

/** Creates, changes, stores and releases activations. */
export class Activations {
  readonly #declaration: Declaration
  readonly #currentGroups: () => Groups
  readonly #principals = new Map<string, Promise<ActivationState>>()
  #shared: Promise<ActivationState> | undefined

  constructor(declaration: Declaration, groups: () => Groups) {
    this.#declaration = declaration
    this.#currentGroups = groups
  }

  get #groups(): Groups {
    return this.#currentGroups()
  }

  /** The activation of a session: its initial groups or those of the principal's last session, plus those that its URL requests. */
  async session(
    key: string,
    { principal, start, asked }: { principal: Principal | undefined; start: readonly string[]; asked: Activation },
    cost: GroupCost,
  ): Promise<ActivationState> {
    const remember = rememberFor(this.#declaration, principal)
    const state = new ActivationState(key, { ...asked, groups: [] }, remember === 'reconnect' ? keyOf(principal) : undefined)
    const remembered = state.savedAs === undefined ? undefined : await this.#load(state.savedAs)
    if (remembered !== undefined) state.activation = { ...state.activation, tools: remembered.tools }
    await this.#start(state, remembered?.groups ?? start, cost)
    await this.#start(state, asked.groups, cost)
    return state
  }

  /** The activation that all sessions and requests of a principal share. */
  principal(id: string, cost: GroupCost): Promise<ActivationState> {
    const key = `principal:${id}`
    const found = this.#principals.get(key)
    if (found !== undefined) return found
    const made = (async () => {
      const state = new ActivationState(key, nothingActive, key)
      const saved = await this.#load(key)
      if (saved !== undefined) state.activation = { ...state.activation, tools: saved.tools }
      await this.#start(state, saved?.groups ?? initialActivation(this.#groups).groups, cost)
      return state
    })()
    this.#principals.set(key, made)
    if (this.#principals.size > principalsInMemory) void this.#forgetOne()
    return made
  }

  /** The activation that all stateless clients share. Groups with hooks are active from the first request on. */
  shared(cost: GroupCost): Promise<ActivationState> {
    this.#shared ??= (async () => {
      const state = new ActivationState('shared', nothingActive)
      for (const { name, strict } of this.#groups.byName.values()) if (strict) await this.#start(state, [name], cost)
      return state
    })()
    return this.#shared
  }

  /** Runs hooks, changes the activation, then stores it. Transitions of one activation never overlap. */
  change<T>(state: ActivationState, plan: (activation: Activation) => Plan, result: (made: Plan) => T): Promise<T> {
    return state.exclusively(async () => {
      // Hooks that ran for a client that has left would never be undone.
      if (state.isOver) return result({ next: state.activation, on: [], off: [] })
      const { tools } = state.activation
      const made = await this.#commit(state, plan)
      if (made.on.length + made.off.length > 0 || made.next.tools !== tools) await this.#save(state)
      return result(made)
    })
  }

  /** Releases an activation that is no longer used, by running its hooks. */
  async release(state: ActivationState): Promise<void> {
    // A transition in progress may still activate a group.
    await state.exclusively(async () => {
      state.isOver = true
    })
    const withHooks = state.activation.groups.filter((name) => this.#hooksOf(name) !== undefined)
    for (const name of withHooks.toReversed()) {
      try {
        await state.exclusively(() => this.#commit(state, (activation) => planDeactivate(this.#groups, activation, name)))
      } catch (error) {
        this.#report(`Closing ${state.key}: group "${name}" could not be deactivated.`, error)
      }
    }
  }

  async stop(): Promise<void> {
    const states = await Promise.all([...this.#principals.values(), ...(this.#shared === undefined ? [] : [this.#shared])])
    for (const state of states) await this.release(state)
  }

  /** Activates the initial groups. A group whose hook fails stays inactive, and its activator can try again. */
  async #start(state: ActivationState, groups: readonly string[], cost: GroupCost): Promise<void> {
    const plan = (names: readonly string[]) => (activation: Activation) => planActivateAll(this.#groups, activation, names, cost)
    if (groups.length === 0) return
    if (!plan(groups)(state.activation).on.some((name) => this.#hooksOf(name) !== undefined)) {
      state.activation = plan(groups)(state.activation).next
      return
    }
    for (const name of groups) {
      try {
        await state.exclusively(() => this.#commit(state, plan([name])))
      } catch (error) {
        this.#report(`Group "${name}" could not be activated for ${state.key}.`, error)
      }
    }
  }

  async #commit(state: ActivationState, plan: (activation: Activation) => Plan): Promise<Plan> {
    const made = plan(state.activation)
    const { hookTimeoutMs, report } = this.#declaration
    await runHooks(made, state.key, { hooksOf: (name) => this.#hooksOf(name), timeoutMs: hookTimeoutMs, report })
    state.activation = made.next
    return made
  }

  /** Drops the oldest principal without a connected client; the store keeps its activation. */
  async #forgetOne(): Promise<void> {
    for (const [key, state] of this.#principals) {
      const { scopes, activation } = await state
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
      const message = `The activation of ${key} could not be loaded; it starts with the defaults.`
      this.#declaration.report({ reason: 'store_failed', message, error })
      return undefined
    }
  }

  async #save(state: ActivationState): Promise<void> {
    if (state.savedAs === undefined) return
    try {
      await this.#declaration.store.save(state.savedAs, state.activation)
    } catch (error) {
      const message = `The activation of ${state.savedAs} could not be saved; it holds until the server stops.`
      this.#declaration.report({ reason: 'store_failed', message, error })
    }
  }
}

const keyOf = (principal: Principal | undefined): string | undefined =>
  principal === undefined ? undefined : `principal:${principal.id}`
