import { canonicalJson } from '@unfold-mcp/core'
import type { PermittedConfig } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { type ConfigEdit, describeEdit, editDigest } from './edit.ts'
import { approvedAfter, type GuardedPart, type Permitted, permitted, withApproved } from './guarded.ts'
import { type ConsentFile, type ConsentRecord, nothingApproved } from './record.ts'

/** Decision about edits by digest. */
export interface EditDecision {
  readonly approve?: readonly string[]
  readonly reject?: readonly string[]
}

export interface EditConsentOptions {
  readonly file: ConsentFile
  /** Called with the problem if the record cannot be read or written, and with `undefined` if it can. */
  readonly onStatus: (problem: string | undefined) => void
}

const maxRejected = 1_000

/**
 * Decides which edits of a configuration file may be used. A program that can write the file, such as a server with a tool for
 * files, must not be able to start programs with it, or to weaken the gateway.
 */
export class EditConsent {
  readonly #options: EditConsentOptions
  readonly #reported = new Set<string>()
  #record: ConsentRecord | undefined
  #waiting: readonly GuardedPart[] = []

  constructor(options: EditConsentOptions) {
    this.#options = options
  }

  /** Edits that wait, or that were rejected and are still in the file. */
  get edits(): readonly ConfigEdit[] {
    return this.#waiting.map((part) => describeEdit(part, this.#isRejected(part)))
  }

  /**
   * Compares a configuration as written with what was approved. Before the first start nothing was, so the whole file counts as
   * approved: whoever starts a gateway for the first time chose the file.
   */
  async permit(written: Config): Promise<PermittedConfig> {
    let result: Permitted = { config: written, waiting: [] }
    await this.#update((record) => {
      if (record === undefined) return { approved: written, rejected: [] }
      result = permitted(record.approved, written)
      return { ...record, approved: approvedAfter(record.approved, result) }
    })
    this.#waiting = result.waiting
    return { config: result.config, notStarted: new Map(this.#newServers()) }
  }

  /** Returns edits that wait and that earlier calls did not return. */
  unreported(): readonly ConfigEdit[] {
    const waiting = this.edits.filter(({ isRejected }) => !isRejected)
    const added = waiting.filter(({ digest }) => !this.#reported.has(digest))
    this.#reported.clear()
    for (const { digest } of waiting) this.#reported.add(digest)
    return added
  }

  /** Records a decision about edits that wait; returns those that it applies to. Approved ones are permitted from then on. */
  async decide({ approve = [], reject = [] }: EditDecision): Promise<readonly ConfigEdit[]> {
    const chosen = (digests: readonly string[]): readonly GuardedPart[] =>
      this.#waiting.filter((part) => digests.includes(editDigest(part)))
    const [approved, rejected] = [chosen(approve), chosen(reject).filter((part) => !approve.includes(editDigest(part)))]
    const decided = [...approved, ...rejected]
    if (decided.length === 0) return []
    await this.#update((record = nothingApproved()) => {
      const digests = decided.map(editDigest)
      const others = record.rejected.filter((digest) => !digests.includes(digest))
      return {
        approved: approved.reduce(withApproved, record.approved),
        rejected: [...others, ...rejected.map(editDigest)].slice(-maxRejected),
      }
    })
    return decided.map((part) => describeEdit(part, rejected.includes(part)))
  }

  #isRejected(part: GuardedPart): boolean {
    return this.#record?.rejected.includes(editDigest(part)) === true
  }

  *#newServers(): Generator<readonly [string, string]> {
    for (const part of this.#waiting) {
      const { path, before } = part
      if (path[0] !== 'mcpServers' || before !== undefined) continue
      yield [path[1] ?? '', this.#isRejected(part) ? rejectedMessage : waitingMessage]
    }
  }

  /** If the record cannot be used, the decisions of this process continue to apply. */
  async #update(change: (record: ConsentRecord | undefined) => ConsentRecord): Promise<void> {
    const { file, onStatus } = this.#options
    let isDone = false
    try {
      let problem: string | undefined
      await file.update((stored) => {
        if (stored === 'unusable' && this.#record === undefined)
          problem = `${file.path} is damaged, or writable by others: nothing in the configuration counts as approved. Run "unfold review".`
        const current =
          typeof stored === 'object' ? stored : (this.#record ?? (stored === 'missing' ? undefined : nothingApproved()))
        this.#record = change(current)
        isDone = true
        return canonicalJson(this.#record) === canonicalJson(stored) ? undefined : this.#record
      })
      onStatus(problem)
    } catch (error) {
      if (!isDone) this.#record = change(this.#record)
      onStatus(`Approvals of configuration edits cannot be stored: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}

const waitingMessage = 'waiting for approval: run "unfold review".'
const rejectedMessage = 'was rejected. Remove it from the file, or approve it with "unfold review --approve".'
