import { auditPage } from '../analyze/accessibility.ts'
import type { Audit } from '../records/records.ts'
import { onTab } from './live.ts'
import type { Watch } from './watch.ts'

export interface AuditRequest {
  readonly tab: string | undefined
  readonly selector?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly signal: AbortSignal
}

/** Audits the current page of a tab and records the result. */
export async function audited(watch: Watch, { tab, selector, tags, signal }: AuditRequest): Promise<Audit> {
  const { recording } = watch
  const audit = await onTab(watch, { tab, signal }, (page, id, untilUnavailable) =>
    auditPage(page, {
      tab: id,
      signal: untilUnavailable,
      ...(selector !== undefined && { selector }),
      ...(tags !== undefined && { tags }),
    }),
  )
  // Returned even if the filters reject it.
  return recording.add('audits', audit) ?? { seq: recording.seq, ...recording.redactor.record('audits', audit) }
}
