import { printable } from '@unfold-mcp/core'
import { Slices } from '../base/slices.ts'
import type { Config } from '../config/schema.ts'
import type { Range } from '../observability/fingerprints.ts'
import { maskRanges } from '../observability/redactor.ts'
import { describeRule, type Rule } from '../poisoning/finding.ts'
import { scanTexts } from '../poisoning/scan.ts'
import type { TextPart } from '../poisoning/text-parts.ts'
import { type FoundSecret, secretFormatsIn } from './secret-formats.ts'
import { replaceTexts } from './texts.ts'

export type InspectionSettings = Pick<Config['results'], 'instructions' | 'secrets'>

/** Something in a result that should not be there. */
export interface ResultFinding {
  readonly rule: Rule | 'secret'
  /** Location in the result, such as `content[0].text`. */
  readonly path: string
  /** Predicate that follows the path: "contains a GitHub token". */
  readonly description: string
  /** The matching text, escaped; absent for secrets. */
  readonly excerpt?: string
  readonly action: 'flagged' | 'masked' | 'blocked'
}

export interface Inspected<T> {
  /** The same object if nothing was masked. */
  readonly result: T
  readonly findings: readonly ResultFinding[]
}

// Per result, in characters. The rest is reported as unread.
const maxSecretText = 4_194_304
const maxInstructionText = 262_144
// Texts are scanned in parts, so that calls are handled in between. A phrase across two parts is in the overlap.
const partLength = 16_384
const overlap = 512
// Per result.
const maxFindings = 20
const minTextLength = 8

// Of the same length, so that a text still has the length that an output schema requires.
const maskOf = (length: number): string => '[secret]'.padEnd(length, '*')

/** Finds secrets and text that addresses the model in a result, and masks secrets as configured. The work is bounded. */
export async function inspect<T extends object>(
  original: T,
  { instructions, secrets }: InspectionSettings,
  knownSecrets: (text: string) => readonly Range[],
): Promise<Inspected<T>> {
  const findings: ResultFinding[] = []
  const texts: Text[] = []
  const unread = { rule: 'unread', path: 'text', description: describeRule('unread') } as const
  let secretText = 0
  let isComplete = true
  const result = replaceTexts(
    original,
    (text, path) => {
      if (text.length < minTextLength) return text
      if (secrets === 'off') {
        texts.push({ text, path })
        return text
      }
      secretText += text.length
      if (secretText > maxSecretText) isComplete = false
      const found = isComplete ? secretsOf(text, knownSecrets) : []
      // Without secrets, which an excerpt would repeat in the log.
      texts.push({ text: maskRanges(text, found, maskOf), path })
      const action = secrets === 'block' ? 'blocked' : 'masked'
      const masked = found.filter(({ format }) => secrets !== 'flag' || format === configured)
      for (const format of new Set(found.map((each) => each.format)))
        findings.push({
          rule: 'secret',
          path: printable(path, 200),
          description: `contains ${format}`,
          action: secrets === 'flag' && format !== configured ? 'flagged' : action,
        })
      return masked.length === 0 ? text : maskRanges(text, masked, maskOf)
    },
    () => {
      isComplete = false
    },
  )
  if (!isComplete) findings.push({ ...unread, action: secrets === 'block' || instructions === 'block' ? 'blocked' : 'flagged' })
  if (instructions !== 'off') {
    const action = instructions === 'block' ? 'blocked' : 'flagged'
    const slices = new Slices()
    for (const batch of batches(texts)) {
      for (const { rule, path, description, excerpt } of scanTexts(batch))
        findings.push({ rule, path, description, excerpt, action })
      await slices.next()
    }
    if (texts.reduce((sum, { text }) => sum + text.length, 0) > maxInstructionText) findings.push({ ...unread, action })
  }
  if (findings.length === 0) return { result, findings }
  const [blocked, others] = [findings.filter(isBlocked), findings.filter((each) => !isBlocked(each))]
  return { result, findings: firstOfEach([...blocked, ...others]).slice(0, maxFindings) }
}

const isBlocked = ({ action }: ResultFinding): boolean => action === 'blocked'

interface Text {
  readonly text: string
  readonly path: string
}

/** Divides texts into batches of about the same length: a result may be one long text, or thousands of short ones. */
function* batches(texts: readonly Text[]): Generator<readonly TextPart[]> {
  let batch: TextPart[] = []
  let length = 0
  let left = maxInstructionText
  for (const { text, path } of texts)
    for (let at = 0; at < text.length && left > 0; at += partLength) {
      const size = Math.min(partLength, text.length - at, left)
      batch.push({ text: text.slice(Math.max(0, at - overlap), at + size), path: () => printable(path, 200) })
      left -= size
      length += size
      if (length < partLength) continue
      yield batch
      batch = []
      length = 0
    }
  if (batch.length > 0) yield batch
}

const configured = 'a configured secret'

/** Configured secrets first: if one has a known format too, it is reported as configured. */
function secretsOf(text: string, knownSecrets: (text: string) => readonly Range[]): readonly FoundSecret[] {
  const known = knownSecrets(text).map((range) => ({ ...range, format: configured }))
  const byFormat = secretFormatsIn(text).filter(({ start, end }) => !known.some((each) => each.start < end && start < each.end))
  return [...known, ...byFormat.map((each) => ({ ...each, format: `${article(each.format)} ${each.format}` }))]
}

const article = (noun: string): string => (/^[aeiou]|^npm/iu.test(noun) ? 'an' : 'a')

function firstOfEach(findings: readonly ResultFinding[]): readonly ResultFinding[] {
  const seen = new Set<string>()
  return findings.filter(({ rule, path, description }) => {
    const key = `${rule} ${path} ${description}`
    return !seen.has(key) && seen.add(key)
  })
}
