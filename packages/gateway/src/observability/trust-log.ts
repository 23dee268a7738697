import { counted, printable } from '@unfold-mcp/core'
import type { Log } from '../base/log.ts'
import type { Journal } from './journal.ts'

interface Change {
  readonly item: { readonly kind: string; readonly name: string }
  readonly hazards: readonly {
    readonly path: string
    readonly rule: string
    readonly description: string
    readonly excerpt: string
  }[]
}

/** Changes of what is trusted. */
export type LoggedTrust =
  | {
      readonly server: string
      readonly outcome: 'baseline' | 'served' | 'held' | 'approved' | 'blocked'
      readonly changes: readonly Change[]
      readonly by?: string | undefined
    }
  | {
      readonly server: string
      readonly outcome: 'run'
      readonly differences: readonly { readonly what: string; readonly before: string; readonly after: string }[]
    }

const maxNames = 5

/** Logs what people should know, and records all changes for `unfold review`. */
export function trustLog({ log, journal }: { readonly log: Log; readonly journal: Journal }): (event: LoggedTrust) => void {
  return (event) => {
    const { server, outcome } = event
    if (event.outcome === 'run') {
      const names = event.differences.map(runText)
      journal.write('trust', { upstream: server, outcome: 'run', count: names.length, names, rules: [] })
      log.info({ upstream: server, event: 'run' }, `is not what ran before: ${names.join('; ')}`)
      return
    }
    const { changes, by } = event
    const labels = changes.map(labelOf)
    const names = `${labels.slice(0, maxNames).join(', ')}${labels.length > maxNames ? ', …' : ''}`
    const rules = [...new Set(changes.flatMap(({ hazards }) => hazards.map(({ rule }) => rule)))]
    journal.write('trust', {
      upstream: server,
      outcome: event.outcome,
      count: changes.length,
      names: labels.slice(0, maxNames),
      rules,
    })
    if (outcome === 'baseline') log.debug({ upstream: server, event: outcome }, `first list is trusted: ${names}`)
    if (outcome === 'approved' || outcome === 'blocked')
      log.info({ upstream: server, event: outcome, by }, `${outcome} by ${by ?? 'a person'}: ${names}`)
    if (outcome !== 'held') return
    const [hazard] = changes.flatMap(({ hazards }) => hazards)
    const reason = hazard === undefined ? '' : ` ${hazard.path} ${hazard.description} ("${hazard.excerpt}").`
    const hint = `Review: unfold review ${printable(server)}`
    log.warn({ upstream: server, event: 'held', rules }, `held ${counted(changes.length, 'change')}: ${names}.${reason} ${hint}`)
  }
}

const labelOf = ({ item: { kind, name } }: Change): string => (kind === 'instructions' ? kind : `${kind} "${printable(name)}"`)

const runTexts: Readonly<Record<string, string>> = {
  command: 'other command or arguments',
  tlsKey: 'other TLS key',
}

const runText = ({ what, before, after }: { readonly what: string; readonly before: string; readonly after: string }): string =>
  runTexts[what] ?? `${what} ${printable(before)} → ${printable(after)}`
