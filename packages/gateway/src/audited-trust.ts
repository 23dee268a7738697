import type { AuditLog } from './audit/audit-log.ts'
import { digestsOf } from './trust/digest.ts'
import type { TrustEvent } from './trust/gate.ts'

// Longer lists are split, so that no record is too long.
const maxItems = 100

/** Records a change of what is trusted in the audit log. */
export function recordTrust(audit: AuditLog, event: TrustEvent): void {
  const { server: upstream, outcome } = event
  if (event.outcome === 'run') {
    void audit.event({ type: 'trust', outcome, upstream, differences: event.differences })
    return
  }
  const { by } = event
  const items = event.changes.map(({ item: { kind, name, definition }, hazards }) => ({
    kind,
    name,
    definitionDigest: digestsOf(definition).definition,
    ...(hazards.length > 0 && { rules: [...new Set(hazards.map(({ rule }) => rule))] }),
  }))
  for (let at = 0; at < items.length; at += maxItems) {
    const part = items.slice(at, at + maxItems)
    void audit.event({ type: 'trust', outcome, upstream, ...(by !== undefined && { client: by }), items: part })
  }
}
