import type { AuditPosition } from '../../audit/audit-file.ts'
import { chainPaths } from '../../audit/chain-files.ts'
import { lastRecords } from '../../audit/query.ts'
import type { AuditRecord } from '../../audit/record.ts'
import { type ChainReport, verifyChain } from '../../audit/verify.ts'

/** Reply of `GET /api/audit`. */
export interface AuditRecords {
  /** False if the configuration has no audit log. */
  readonly isConfigured: boolean
  /** Newest last. */
  readonly records: readonly AuditRecord[]
}

/** Reply of `GET /api/audit/verify`. */
export interface AuditVerification {
  readonly isConfigured: boolean
  readonly isIntact: boolean
  readonly chains: readonly ChainReport[]
}

export interface AuditTrailOptions {
  /** Path of the audit log; `undefined` without one. */
  readonly path: () => string | undefined
  /** The last record that this process wrote. */
  readonly live: () => AuditPosition | undefined
}

const attempts = 5
const retryMs = 200

/** The files of the audit log, as commands read them too. */
export class AuditTrail {
  readonly #options: AuditTrailOptions
  #verifying: Promise<AuditVerification> | undefined

  constructor(options: AuditTrailOptions) {
    this.#options = options
  }

  get path(): string | undefined {
    return this.#options.path()
  }

  /** Requests at the same time share one verification, which reads all files. */
  verify(): Promise<AuditVerification> {
    this.#verifying ??= this.#verify().finally(() => {
      this.#verifying = undefined
    })
    return this.#verifying
  }

  async #verify(): Promise<AuditVerification> {
    const { path } = this
    if (path === undefined) return { isConfigured: false, isIntact: true, chains: [] }
    const chains: ChainReport[] = []
    for (const chain of await chainPaths(path)) chains.push(await this.#verifyChain(chain))
    return { isConfigured: true, isIntact: chains.every(({ problem }) => problem === undefined), chains }
  }

  async #verifyChain(chain: string): Promise<ChainReport> {
    for (let attempt = 0; ; attempt++) {
      const live = this.#options.live()
      const report = await verifyChain(chain, { live: live?.file === chain ? live : undefined })
      // This process may be in the middle of a line.
      if (report.problem?.kind !== 'incomplete' || attempt === attempts) return report
      await new Promise((done) => setTimeout(done, retryMs))
    }
  }
}

export async function auditRecords({ path }: AuditTrail, limit: number): Promise<AuditRecords> {
  if (path === undefined) return { isConfigured: false, records: [] }
  return { isConfigured: true, records: await lastRecords(path, { limit, matches: () => true }) }
}
