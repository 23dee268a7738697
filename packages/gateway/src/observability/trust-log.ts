import { counted, printable } from '@unfold-mcp/core'
import type { Log } from '../base/log.ts'
import type { Journal } from './journal.ts'

/** New and changed definitions of one server. */
interface TrustChanges {
  readonly server: string
  readonly outcome: 'served' | 'held'
  readonly changes: readonly {
    readonly item: { readonly kind: string; readonly name: string }
    readonly previous: unknown
    readonly hazards: readonly {
      readonly path: string
      readonly rule: string
      readonly description: string
      readonly excerpt: string
    }[]
  }[]
}

const maxNames = 5

/** Logs what was held, and records all changes for `unfold review`. */
export function trustLog({ log, journal }: { readonly log: Log; readonly journal: Journal }): (event: TrustChanges) => void {
  return ({ server, outcome, changes }) => {
    const labels = changes.map(({ item }) =>
      item.kind === 'instructions' ? 'instructions' : `${item.kind} "${printable(item.name)}"`,
    )
    const names = `${labels.slice(0, maxNames).join(', ')}${labels.length > maxNames ? ', …' : ''}`
    const rules = [...new Set(changes.flatMap(({ hazards }) => hazards.map(({ rule }) => rule)))]
    journal.write('trust', { upstream: server, outcome, count: changes.length, names: labels.slice(0, maxNames), rules })
    if (outcome !== 'held') return
    const [hazard] = changes.flatMap(({ hazards }) => hazards)
    const reason = hazard === undefined ? '' : ` ${hazard.path} ${hazard.description} ("${hazard.excerpt}").`
    const hint = `Review: unfold review ${printable(server)}`
    log.warn({ upstream: server, event: 'held', rules }, `held ${counted(changes.length, 'change')}: ${names}.${reason} ${hint}`)
  }
}
