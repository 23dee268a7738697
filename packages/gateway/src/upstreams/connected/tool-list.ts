import { type Difference, differenceOf } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import type { Emit } from '../events.ts'
import type { Work } from './refresher.ts'

export interface ListedTools {
  readonly upstream: string
  readonly emit: Emit
}

/** The tools of an upstream as they are listed to clients: they stay when it is away, and every change is told with what is different. */
export class ToolList {
  readonly #options: ListedTools
  #tools: readonly Tool[]
  #compared: { readonly tools: readonly Tool[]; readonly difference: Difference } | undefined

  constructor(tools: readonly Tool[], options: ListedTools) {
    this.#tools = tools
    this.#options = options
  }

  get tools(): readonly Tool[] {
    return this.#tools
  }

  /** Whether these are others than those that are listed. */
  differs(tools: readonly Tool[]): boolean {
    const { added, removed, changed } = this.#difference(tools)
    return added.length + removed.length + changed.length > 0
  }

  /** Lists these instead, and tells so if they are others. */
  replace(tools: readonly Tool[], { reads, ms }: Work): void {
    if (!this.differs(tools)) return
    const difference = this.#difference(tools)
    this.#tools = tools
    this.#compared = undefined
    const { upstream, emit } = this.#options
    const { added, changed, removed } = difference
    const counts = { added: added.length, changed: changed.length, removed: removed.length }
    emit('tools', { upstream, tools, difference, ...counts, reads, ms: Math.round(ms) })
  }

  // It is asked for twice in a row: whether there is one, and which.
  #difference(tools: readonly Tool[]): Difference {
    if (this.#compared?.tools !== tools) this.#compared = { tools, difference: differenceOf(this.#tools, tools) }
    return this.#compared.difference
  }
}
