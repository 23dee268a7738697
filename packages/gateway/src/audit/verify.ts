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

/** Checks records one by one. Methods return the problem that they find. */
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

  line(place: Place, bytes: Uint8Array, isComplete: boolean): void {
    this.problem ??= isComplete ? this.#line(place, bytes) : this.#incomplete(place)
  }

  end(): void {
    this.problem ??= this.#unreadable() ?? this.#settleSuspect(undefined) ?? this.#shortened()
  }

  #line(place: Place, bytes: Uint8Array): ChainProblem | undefined {
    const hash = hashLine(bytes)
    const record = parseRecord(bytes)
    if (record === undefined) {
      const problem = this.#unreadable()
      this.#partial = { ...place, hash }
      return problem
    }
    if (this.#partial !== undefined && record.partialHash !== this.#partial.hash) return this.#unreadable()
    this.#partial = undefined
    return this.#record(record, { ...place, seq: record.seq, hash })
  }

  #record(record: AuditRecord, checked: Checked): ChainProblem | undefined {
    const before = this.#last
    const problem =
      this.#settleSuspect(record) ??
      (before === undefined ? this.#firstRecord(record, checked) : this.#nextRecord(record, checked, before))
    if (problem !== undefined) return problem
    this.records++
    this.#last = checked
    this.#note(record)
    return this.#checkKnown(checked) ?? reportedBy(record, checked)
  }

  #firstRecord(record: AuditRecord, checked: Checked): ChainProblem | undefined {
    const { seq, type, previous } = record
    this.first = seq
    if (seq > this.#keptFrom)
      return problemAt('missing', this.#keptFrom, checked, `the first record is ${seq}; an earlier file or record is gone`)
    const beginsFile = type === 'file' && (seq > 1 || previous === emptyChain.hash)
    return beginsFile ? undefined : problemAt('altered', seq, checked, 'it does not begin a file')
  }

  #nextRecord(record: AuditRecord, checked: Checked, before: Checked): ChainProblem | undefined {
    const expected = before.seq + 1
    const isLinked = record.previous === before.hash
    if (record.seq === expected) {
      if (!isLinked) this.#suspect = before
      return undefined
    }
    const lost = record.lost as Range | undefined
    if (isLinked && lost !== undefined) {
      const detail = `records ${lost.first} to ${lost.last} were gone when the gateway continued at ${record.at}`
      return problemAt('missing', lost.first, checked, detail)
    }
    if (isLinked) return problemAt('altered', expected, checked, `its sequence number is ${record.seq}`)
    const detail = `record ${record.seq} follows on record ${before.seq}`
    return record.seq > expected
      ? problemAt('missing', expected, checked, detail)
      : problemAt('inserted', record.seq, checked, detail)
  }

  /** Decides which of two records is altered, by the record after them or by a known position. */
  #settleSuspect(next: AuditRecord | undefined): ChainProblem | undefined {
    const suspect = this.#suspect
    const last = this.#last
    if (suspect === undefined || last === undefined) return undefined
    const known = next?.previous ?? this.#known.find(({ seq }) => seq === last.seq)?.hash
    const altered = known !== undefined && known !== last.hash ? last : suspect
    return problemAt('altered', altered.seq, altered, 'its hash differs from the one in the next record')
  }

  #checkKnown(checked: Checked): ChainProblem | undefined {
    if (this.#suspect !== undefined) return undefined
    const isAltered = this.#known.some(({ seq, hash }) => seq === checked.seq && hash !== checked.hash)
    return isAltered
      ? problemAt('altered', checked.seq, checked, 'its hash differs from the one that the gateway stored')
      : undefined
  }

  #note({ seq, type, partialBytes, missing }: AuditRecord): void {
    if (typeof partialBytes === 'number') this.notes.push(`Record ${seq}: an incomplete line before it was left by a crash.`)
    if (type === 'missing') this.notes.push(`Record ${seq}: ${String(missing)} records could not be written.`)
  }

  #unreadable(): ChainProblem | undefined {
    if (this.#partial === undefined) return undefined
    return problemAt('altered', (this.#last?.seq ?? 0) + 1, this.#partial, 'the line is not a record')
  }

  #incomplete(place: Place): ChainProblem {
    const detail = 'its line is incomplete, as after a crash; the gateway records that at its next start'
    const own = problemAt('incomplete', (this.#last?.seq ?? 0) + 1, place, detail)
    return this.#unreadable() ?? this.#settleSuspect(undefined) ?? own
  }

  /** Compares the end with the last record that the gateway wrote. */
  #shortened(): ChainProblem | undefined {
    const last = this.#last?.seq ?? 0
    const written = Math.max(0, ...this.#known.map(({ seq }) => seq))
    if (written <= last) return undefined
    const place = this.#last ?? { file: '', line: 0 }
    return problemAt('missing', last + 1, place, `${written - last} records were removed from the end`)
  }
}

/** A problem that the gateway found when it continued the chain. */
function reportedBy({ at, altered, foreign }: AuditRecord, checked: Checked): ChainProblem | undefined {
  if (typeof altered === 'number')
    return problemAt('altered', altered, checked, `it had been altered when the gateway continued at ${at}`)
  if (foreign === undefined) return undefined
  const { first, last } = foreign as Range
  return problemAt('inserted', first, checked, `the gateway did not write records ${first} to ${last}`)
}

const problemAt = (kind: ChainProblem['kind'], seq: number, { file, line }: Place, detail: string): ChainProblem => ({
  kind,
  seq,
  file,
  line,
  message: `record ${seq} is ${kind}: ${detail}`,
})
