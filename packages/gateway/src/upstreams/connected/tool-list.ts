import { type Difference, diffTools } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import type { Emit } from '../events.ts'
import type { RefreshStats } from './refresher.ts'

export interface ToolListOptions {
  readonly upstream: string
  readonly emit: Emit
}

/** The listed tools of an upstream. They outlive the connection, and every change is emitted with its difference. */
export class ToolList {
  readonly #options: ToolListOptions
  #tools: readonly Tool[]
  #compared: { readonly tools: readonly Tool[]; readonly difference: Difference } | undefined

  constructor(tools: readonly Tool[], options: ToolListOptions) {
    this.#tools = tools
    this.#options = options
  }

  get tools(): readonly Tool[] {
    return this.#tools
  }

  differs(tools: readonly Tool[]): boolean {
    const { added, removed, changed } = this.#difference(tools)
    return added.length + removed.length + changed.length > 0
  }

  /** Replaces the tools, and emits `tools` if they differ. */
  replace(tools: readonly Tool[], { reads, ms }: RefreshStats): void {
    if (!this.differs(tools)) return
    const difference = this.#difference(tools)
    this.#tools = tools
    this.#compared = undefined
    const { upstream, emit } = this.#options
    const { added, changed, removed } = difference
    const counts = { added: added.length, changed: changed.length, removed: removed.length }
    emit('tools', { upstream, tools, difference, ...counts, reads, ms: Math.round(ms) })
  }

  // Cached: `differs` and `replace` compare the same list.
  #difference(tools: readonly Tool[]): Difference {
    if (this.#compared?.tools !== tools) this.#compared = { tools, difference: diffTools(this.#tools, tools) }
    return this.#compared.difference
  }
}
