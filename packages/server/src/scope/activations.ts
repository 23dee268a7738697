import {
  type Activation,
  Failure,
  type GroupCost,
  type Groups,
  initialActivation,
  isFailure,
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
import { ActivationState, type StoredActivation } from './scope.ts'

const principalsInMemory = 10_000

/** Creates, changes, stores and releases activations. */
export class Activations {
  readonly #declaration: Declaration
  readonly #currentGroups: () => Groups
  readonly #changed: (state: ActivationState) => void
  readonly #unwatch: () => void
  readonly #principals = new Map<string, Promise<ActivationState>>()
  #shared: Promise<ActivationState> | undefined

  /** `changed`: another process has changed an activation that is used here. */
  constructor(declaration: Declaration, groups: () => Groups, changed: (state: ActivationState) => void) {
    this.#declaration = declaration
    this.#currentGroups = groups
    this.#changed = changed
    this.#unwatch = declaration.store.watch?.((key) => void this.#reload(key)) ?? (() => undefined)
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
      this.#shareWithOthers(state, key)
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
    this.#unwatch()
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

  #shareWithOthers(state: ActivationState, key: string): void {
    const { store } = this.#declaration
    if (store.update === undefined) return
    const initial = state.activation
    state.stored = {
      update: async (change) =>
        (await store.update?.(key, (saved) => change(this.#parsed(saved) ?? initial))) ?? state.activation,
    }
  }

  async #reload(key: string | undefined): Promise<void> {
    const found = key === undefined ? [...this.#principals.values()] : [this.#principals.get(key)]
    for (const pending of found) {
      const state = await pending
      const saved = state?.savedAs === undefined ? undefined : await this.#load(state.savedAs)
      if (state === undefined || saved === undefined) continue
      state.activation = saved
      this.#changed(state)
    }
  }

  async #commit(state: ActivationState, plan: (activation: Activation) => Plan): Promise<Plan> {
    if (state.stored !== undefined) return commitStored(state, state.stored, plan)
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
      return this.#parsed(await this.#declaration.store.load(key))
    } catch (error) {
      const message = `The activation of ${key} could not be loaded; it starts with the defaults.`
      this.#declaration.report({ reason: 'store_failed', message, error })
      return undefined
    }
  }

  #parsed(value: unknown): Activation | undefined {
    const saved = parseActivation(value)
    return saved === undefined ? undefined : reconcile(this.#groups, saved)
  }

  async #save(state: ActivationState): Promise<void> {
    if (state.savedAs === undefined || (state.savedAs === state.key && state.stored !== undefined)) return
    try {
      await this.#declaration.store.save(state.savedAs, state.activation)
    } catch (error) {
      const message = `The activation of ${state.savedAs} could not be saved; it holds until the server stops.`
      this.#declaration.report({ reason: 'store_failed', message, error })
    }
  }
}

/** Groups with hooks cannot be shared by replicas, so none have to run. */
async function commitStored(
  state: ActivationState,
  stored: StoredActivation,
  plan: (activation: Activation) => Plan,
): Promise<Plan> {
  let made: Plan = { next: state.activation, on: [], off: [] }
  try {
    state.activation = await stored.update((current) => {
      // Before the plan, which compares the view before and after.
      state.activation = current
      made = plan(current)
      return made.next
    })
    return made
  } catch (error) {
    if (isFailure(error)) throw error
    const message = 'Tools cannot be activated now, because the store that replicas share is unavailable. Try again in a moment.'
    throw new Failure('state_unavailable', message, { what: 'activation' }, { cause: error })
  }
}

const keyOf = (principal: Principal | undefined): string | undefined =>
  principal === undefined ? undefined : `principal:${principal.id}`
