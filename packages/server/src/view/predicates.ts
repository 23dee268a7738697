import {
  availableModes,
  type Entry,
  type Evaluate,
  type FactSource,
  type Facts,
  type ModeSet,
  memoizedEvaluate,
  type Snapshot,
  unavailableEntries,
  type ViewInputs,
} from '@unfold-mcp/core'
import type { CatalogState } from '../catalog/catalog-state.ts'
import type { ToolEntry } from '../tool/entry.ts'
import type { Reporter } from '../tool/report.ts'

export interface PredicatesOptions {
  readonly facts: (() => Facts) | FactSource | undefined
  readonly report: Reporter
}

const noEntries: ReadonlySet<ToolEntry> = new Set()
const noModes: ReadonlyMap<ToolEntry, ModeSet> = new Map()
const noFacts: Facts = Object.freeze({})

type Availability = Pick<ViewInputs<ToolEntry>, 'unavailable' | 'modes'>
const allAvailable: Availability = { unavailable: noEntries, modes: noModes }

/** Evaluates the predicates of tools and modes on the current facts. What a predicate that throws decides is hidden. */
export class Predicates {
  readonly #options: PredicatesOptions
  readonly #factSource: FactSource | undefined
  #evaluate: Evaluate | undefined

  constructor(options: PredicatesOptions) {
    this.#options = options
    this.#factSource = typeof options.facts === 'object' ? options.facts : undefined
    this.reevaluate()
  }

  /** Forgets results, which may depend on more than facts. */
  reevaluate(): void {
    this.#evaluate = this.#factSource === undefined ? undefined : memoizedEvaluate(this.#factSource)
  }

  /** The current facts. */
  facts(): Facts {
    try {
      const { facts } = this.#options
      return (typeof facts === 'function' ? facts() : facts?.read()) ?? {}
    } catch (error) {
      this.#options.report({ reason: 'predicate_failed', message: 'facts() threw; predicates see no facts.', error })
      return noFacts
    }
  }

  availability({ catalog }: CatalogState, snapshot: Snapshot): Availability {
    if (catalog.conditional.length + catalog.composite.length === 0) return allAvailable
    const failed = (entry: Entry, error: unknown): void => this.#failed(entry, error)
    // Without facts, the results of predicates must not be cached.
    const evaluate = snapshot.facts === noFacts ? undefined : this.#evaluate
    return {
      unavailable: catalog.conditional.length === 0 ? noEntries : unavailableEntries(catalog, snapshot, failed, evaluate),
      modes: this.#modes(catalog.composite, snapshot, evaluate),
    }
  }

  #modes(composite: readonly ToolEntry[], snapshot: Snapshot, evaluate: Evaluate | undefined): ReadonlyMap<ToolEntry, ModeSet> {
    if (composite.length === 0) return noModes
    const found = new Map<ToolEntry, ModeSet>()
    for (const entry of composite) {
      if (entry.modes === undefined) continue
      const failed = (_: unknown, error: unknown): void => this.#failed(entry, error)
      found.set(entry, availableModes(entry.modes, snapshot, failed, evaluate))
    }
    return found
  }

  #failed(entry: Entry, error: unknown): void {
    this.#options.report({
      reason: 'predicate_failed',
      message: `A predicate of tool "${entry.tool.name}" threw; what it decides is hidden.`,
      error,
    })
  }
}
