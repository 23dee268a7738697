/** Reference model of a server with groups, conditions, permissions and plugins, as simple as possible. */
export interface SharedState {
  /** Conditions of conditional tools. */
  isOpen: boolean
  /** Principals with the permission. */
  readonly granted: Set<string>
  /** Registered tools, in the order of their registration. */
  readonly registered: Set<string>
}

export interface ModelTool {
  readonly name: string
  readonly group?: string
  readonly conditional?: true
  readonly restricted?: true
}

export interface ModelGroup {
  readonly parent?: string
  readonly needs?: string
  readonly excludes?: string
}

// Names differ a lot, so that no reply suggests another tool.
export const groups: { readonly [name: string]: ModelGroup } = {
  archive: {},
  bucket: { parent: 'archive' },
  catalog: { parent: 'archive', excludes: 'bucket' },
  drawer: { parent: 'bucket' },
  engine: {},
  furnace: { needs: 'engine' },
}

export const declaredTools: readonly ModelTool[] = [
  { name: 'quartz' },
  { name: 'wombat', group: 'archive' },
  { name: 'xylophone', group: 'bucket' },
  { name: 'zeppelin', group: 'catalog' },
  { name: 'hyacinth', group: 'drawer' },
  { name: 'jackdaw', group: 'engine', restricted: true },
  { name: 'kumquat', group: 'engine' },
  { name: 'lightning', group: 'furnace', conditional: true },
  { name: 'mongoose', conditional: true },
  { name: 'nightingale', restricted: true },
]

export const plugins: readonly ModelTool[] = [
  { name: 'obelisk' },
  { name: 'parsnip', group: 'archive' },
  { name: 'rhubarb', group: 'drawer' },
  { name: 'sycamore', conditional: true },
  { name: 'quartz', group: 'engine' },
]

const names = Object.keys(groups)
const ancestors = (group: string): readonly string[] => {
  const parent = groups[group]?.parent
  return parent === undefined ? [] : [parent, ...ancestors(parent)]
}
const closure = (group: string): readonly string[] => {
  const { parent, needs } = groups[group] ?? {}
  return [...(parent === undefined ? [] : closure(parent)), ...(needs === undefined ? [] : closure(needs)), group]
}
const downfall = (group: string): readonly string[] => [
  group,
  ...names.filter((other) => groups[other]?.parent === group || groups[other]?.needs === group).flatMap(downfall),
]
const rivals = (group: string): readonly string[] =>
  names.filter((other) => groups[group]?.excludes === other || groups[other]?.excludes === group)

/** Expected state of one client. */
export class ModelClient {
  readonly principal: string
  readonly era: 'session' | 'stateless'
  readonly #shared: SharedState
  #active = new Set<string>()
  #announced: string
  notifications = 0

  constructor(shared: SharedState, principal: string, era: 'session' | 'stateless') {
    this.#shared = shared
    this.principal = principal
    this.era = era
    this.#announced = this.#fingerprint()
  }

  /** Expected names in its list, in order. */
  get list(): readonly string[] {
    const activators = this.era === 'session' ? [...names.map((group) => `activate_${group}`), 'deactivate'] : []
    return [
      ...activators,
      ...this.#catalog()
        .filter((tool) => this.#isShown(tool))
        .map(({ name }) => name),
    ]
  }

  /** Expected activators, each with the tools that it says it enables. */
  get described(): readonly (readonly [string, readonly string[]])[] {
    return this.list.map((name) => [name, this.#enables(name.replace('activate_', ''))])
  }

  /** Returns `failed` if a parent is not active; notifies the client if its list changed. */
  activate(group: string): 'changed' | 'unchanged' | 'failed' {
    if (this.era === 'stateless') return 'unchanged'
    if (ancestors(group).some((ancestor) => !this.#active.has(ancestor))) return 'failed'
    const wanted = closure(group)
    const losers = wanted.flatMap(rivals).flatMap(downfall)
    return this.#become(new Set([...[...this.#active].filter((name) => !losers.includes(name)), ...wanted]))
  }

  deactivate(group: string): 'changed' | 'unchanged' {
    if (this.era === 'stateless') return 'unchanged'
    return this.#become(new Set([...this.#active].filter((name) => !downfall(group).includes(name))))
  }

  /** Notifies the client if its list changed since the last notification. */
  notifyIfChanged(): void {
    const now = this.#fingerprint()
    if (now === this.#announced) return
    this.#announced = now
    this.notifications++
  }

  #become(next: ReadonlySet<string>): 'changed' | 'unchanged' {
    if (next.size === this.#active.size && [...next].every((name) => this.#active.has(name))) return 'unchanged'
    this.#active = new Set(next)
    this.notifyIfChanged()
    return 'changed'
  }

  #catalog(): readonly ModelTool[] {
    const taken = new Set(declaredTools.map(({ name }) => name))
    const found = [...this.#shared.registered].flatMap((name) => plugins.find((plugin) => plugin.name === name) ?? [])
    return [...declaredTools, ...found.filter(({ name }) => !taken.has(name))]
  }

  #isShown(tool: ModelTool): boolean {
    const isActive = tool.group === undefined || this.era === 'stateless' || this.#active.has(tool.group)
    return isActive && this.#isPermitted(tool) && (tool.conditional === undefined || this.#shared.isOpen)
  }

  #isPermitted(tool: ModelTool): boolean {
    return tool.restricted === undefined || this.#shared.granted.has(this.principal)
  }

  #enables(group: string): readonly string[] {
    const members = this.#catalog().filter((tool) => tool.group === group && tool.conditional === undefined)
    return members.filter((tool) => this.#isPermitted(tool)).map(({ name }) => name)
  }

  #fingerprint(): string {
    return JSON.stringify(this.described)
  }
}
