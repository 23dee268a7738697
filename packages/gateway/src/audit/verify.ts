import { basename } from 'node:path'
import { type ChainFile, chainFiles } from './chain-files.ts'
import { readHead } from './head.ts'
import { readLines } from './lines.ts'
import { type AuditRecord, type ChainPosition, emptyChain, hashLine, parseRecord } from './record.ts'

/** The first thing that is wrong with a chain. */
export interface ChainProblem {
  readonly kind: 'missing' | 'altered' | 'inserted' | 'incomplete'
  /** Sequence number of the record that is missing, altered or inserted. */
  readonly seq: number
  readonly file: string
  /** Line at which the problem shows. */
  readonly line: number
  readonly message: string
}

/** Result of checking one chain. */
export interface ChainReport {
  /** Current file of the chain. */
  readonly path: string
  readonly files: readonly string[]
  readonly records: number
  readonly first?: number
  /** The last record before the first problem. */
  readonly last?: ChainPosition
  readonly problem?: ChainProblem
  /** Facts that are not signs of tampering, such as a repaired crash. */
  readonly notes: readonly string[]
}

export interface VerifyOptions {
  /** Position that a running gateway reports. It must be read before the files are. */
  readonly live?: ChainPosition | undefined
  /** Checks `path` alone, which is a part of a chain. */
  readonly isPart?: boolean
}

/** Checks the files of a chain, oldest first, up to the first problem. */
export async function verifyChain(path: string, { live, isPart = false }: VerifyOptions = {}): Promise<ChainReport> {
  // Read before the files, which only grow.
  const head = await readHead(path)
  const found = (await chainFiles(path)).filter((file) => !isPart || file.path === path)
  // The records that say so are checked like all others.
  const keptFrom = Math.max(1, ...found.flatMap(({ first }) => (typeof first?.keptFrom === 'number' ? [first.keptFrom] : [])))
  const known = [head, live].filter((each) => each !== undefined)
  const check = new ChainCheck(known, isPart ? Number.POSITIVE_INFINITY : keptFrom)
  await checkFiles(check, found)
  const { first, last, records, notes } = check
  if (check.problem === undefined && head === undefined && records > 0 && !isPart)
    notes.push('There is no head file, so records that were removed from the end cannot be noticed.')
  if (check.problem === undefined && head !== undefined && last !== undefined && last.seq > head.seq && live === undefined)
    notes.push(`The last ${last.seq - head.seq} records are newer than the head file, as after a crash.`)
  return {
    path,
    files: found.map((file) => file.path),
    records,
    ...(first !== undefined && { first }),
    ...(last !== undefined && { last }),
    ...(check.problem !== undefined && { problem: check.problem }),
    notes,
  }
}

async function checkFiles(check: ChainCheck, files: readonly ChainFile[]): Promise<void> {
  const unchained = new Set(files.flatMap(({ first }) => (first?.seq === 1 ? [first.unchained] : [])))
  for (const { path, first } of files) {
    if (first === undefined && unchained.has(basename(path))) {
      check.notes.push(`${basename(path)} was written without a chain and cannot be checked.`)
      continue
    }
    for await (const { number, bytes, isComplete } of readLines(path)) {
      check.line({ file: path, line: number }, bytes, isComplete)
      if (check.problem !== undefined) return
    }
  }
  check.end()
}

interface Place {
  readonly file: string
  readonly line: number
}

interface Checked extends Place {
  readonly seq: number
  readonly hash: string
}

interface Range {
  readonly first: number
  readonly last: number
}

/** Checks records one by one. */
class ChainCheck {
  readonly notes: string[] = []
  readonly #known: readonly ChainPosition[]
  /** Records before this one may have been deleted. */
  readonly #keptFrom: number
  problem: ChainProblem | undefined
  first: number | undefined
  records = 0
  #last: Checked | undefined
  /** The record before `#last`, if `#last` contains another hash than its: one of the two is altered. */
  #suspect: Checked | undefined
  /** A line that is not a record; the next record must account for it. */
  #partial: (Place & { readonly hash: string }) | undefined

  constructor(known: readonly ChainPosition[], keptFrom: number) {
    this.#known = known
    this.#keptFrom = keptFrom
  }

  get last(): ChainPosition | undefined {
    return this.#last === undefined ? undefined : { seq: this.#last.seq, hash: this.#last.hash }
  }

  line(place: Place, bytes: Uint8Array, isComplete: boolean): undefined {
    const hash = hashLine(bytes)
    const record = parseRecord(bytes)
    if (!isComplete) return this.#incomplete(place)
    if (record === undefined) {
      if (this.#partial !== undefined) return this.#unreadable()
      this.#partial = { ...place, hash }
      return
    }
    if (this.#partial !== undefined && record.partialHash !== this.#partial.hash) return this.#unreadable()
    this.#partial = undefined
    this.#record(record, { ...place, seq: record.seq, hash })
  }

  end(): undefined {
    if (this.problem !== undefined) return
    if (this.#partial !== undefined) return this.#unreadable()
    this.#settleSuspect(undefined)
    if (this.problem !== undefined) return
    const last = this.#last
    for (const { seq } of this.#known) {
      if (seq > (last?.seq ?? 0)) {
        const place = last ?? { file: '', line: 0 }
        const gone = seq - (last?.seq ?? 0)
        return this.#found('missing', (last?.seq ?? 0) + 1, place, `${gone} records were removed from the end`)
      }
    }
  }

  #record(record: AuditRecord, checked: Checked): undefined {
    this.#settleSuspect(record)
    if (this.problem !== undefined) return
    const before = this.#last
    if (before === undefined) this.#firstRecord(record, checked)
    else this.#nextRecord(record, checked, before)
    if (this.problem !== undefined) return
    this.records++
    this.#last = checked
    this.#checkKnown(checked)
    this.#note(record, checked)
  }

  #firstRecord(record: AuditRecord, checked: Checked): undefined {
    const { seq, type, previous } = record
    this.first = seq
    if (seq > this.#keptFrom)
      return this.#found('missing', this.#keptFrom, checked, `the first record is ${seq}; an earlier file or record is gone`)
    if (type !== 'file' || (seq === 1 && previous !== emptyChain.hash))
      this.#found('altered', seq, checked, 'it does not begin a file')
  }

  #nextRecord(record: AuditRecord, checked: Checked, before: Checked): undefined {
    const expected = before.seq + 1
    const isLinked = record.previous === before.hash
    if (record.seq === expected) {
      if (!isLinked) this.#suspect = before
      return
    }
    const lost = record.lost as Range | undefined
    if (isLinked && lost !== undefined)
      return this.#found(
        'missing',
        lost.first,
        checked,
        `records ${lost.first} to ${lost.last} were gone when the gateway continued at ${record.at}`,
      )
    if (isLinked) return this.#found('altered', expected, checked, `its sequence number is ${record.seq}`)
    if (record.seq > expected)
      return this.#found('missing', expected, checked, `record ${record.seq} follows on record ${before.seq}`)
    this.#found('inserted', record.seq, checked, `record ${record.seq} follows on record ${before.seq}`)
  }

  /** Decides which of two records is altered, by the record after them or by a known position. */
  #settleSuspect(next: AuditRecord | undefined): undefined {
    const suspect = this.#suspect
    const last = this.#last
    if (suspect === undefined || last === undefined) return
    this.#suspect = undefined
    const known = next?.previous ?? this.#known.find(({ seq }) => seq === last.seq)?.hash
    const isLastAltered = known !== undefined && known !== last.hash
    const culprit = isLastAltered ? last : suspect
    this.#found('altered', culprit.seq, culprit, 'its hash differs from the one in the next record')
  }

  #checkKnown({ seq, hash, ...place }: Checked): undefined {
    if (this.#suspect !== undefined) return
    for (const known of this.#known)
      if (known.seq === seq && known.hash !== hash)
        this.#found('altered', seq, place, 'its hash differs from the one that the gateway stored')
  }

  #note(record: AuditRecord, checked: Checked): undefined {
    const { altered, foreign, partialBytes, missing, at } = record as AuditRecord & { readonly foreign?: Range }
    if (typeof altered === 'number')
      return this.#found('altered', altered, checked, `it had been altered when the gateway continued at ${at}`)
    if (foreign !== undefined)
      return this.#found(
        'inserted',
        foreign.first,
        checked,
        `the gateway did not write records ${foreign.first} to ${foreign.last}`,
      )
    if (typeof partialBytes === 'number')
      this.notes.push(`Record ${record.seq}: an incomplete line before it was left by a crash.`)
    if (record.type === 'missing') this.notes.push(`Record ${record.seq}: ${String(missing)} records could not be written.`)
  }

  #unreadable(): undefined {
    const { hash: _hash, ...place } = this.#partial ?? { hash: '', file: '', line: 0 }
    this.#found('altered', (this.#last?.seq ?? 0) + 1, place, 'the line is not a record')
  }

  #incomplete(place: Place): undefined {
    const seq = (this.#last?.seq ?? 0) + 1
    this.#settleSuspect(undefined)
    if (this.problem !== undefined) return
    const detail = 'its line is incomplete, as after a crash; the gateway records that at its next start'
    this.#found('incomplete', seq, place, detail)
  }

  #found(kind: ChainProblem['kind'], seq: number, { file, line }: Place, detail: string): undefined {
    this.problem ??= { kind, seq, file, line, message: `record ${seq} is ${kind}: ${detail}` }
  }
}
