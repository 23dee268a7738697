import { type Finding, findingOf } from './finding.ts'
import type { JoinedText } from './joined-text.ts'
import { phrasesIn } from './phrases/phrases.ts'

const minHexLength = 24
// Encoded text has mixed case, unlike names and paths.
const isMixed = /[A-Z][^A-Z]*[A-Z]/

const base64Run = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}/g
const hexRun = /(?:\\x[0-9a-f]{2}){8,}|(?<![0-9a-f])(?:[0-9a-f]{2}[\s:,]){11,}[0-9a-f]{2}|(?<![0-9a-f])[0-9a-f]{24,}/g

const command =
  /\b(?:curl|wget)\s[^\n]{0,200}?(?:https?:|\||-o\s)|\b(?:ba|z|da)?sh\s+-[ci]\b|\/dev\/tcp\/|\bnc(?:at)?\s+-|\b(?:python|perl|ruby|node|php)[\d.]*\s+-[cer]\b|\bpowershell\b|\biex\s*\(|\binvoke-(?:expression|webrequest)|\brm\s+-(?:rf|fr)\b|\bchmod\s+\+x|\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\bos\.system\(|\bchild_process\b/i
const pipe =
  /\b(?:curl|wget)\s[^\0\n|]{0,300}\|\s?(?:sudo\s)?(?:ba|z|da)?sh\b|\bbase64\s(?:-d|--decode)\s?\|\s?(?:ba|z|da)?sh\b|\bbash\s-i\s>&|\/dev\/tcp\/\d/g

// Encoded texts that are checked for phrases. Each is checked with every rule.
const maxEncoded = 20
const maxEncodedLength = 2_000

/** Finds shell commands that are encoded, or that run downloaded code, and encoded text that addresses the model. */
export function payloadFindings(joined: JoinedText): readonly Finding[] {
  const findings: Finding[] = []
  let encoded = 0
  const add = (index: number, excerpt: string): void => {
    findings.push(findingOf('payload', { path: joined.pathAt(index), excerpt }))
  }
  for (const { index } of [...joined.normalized.matchAll(pipe)].slice(0, 100)) add(index, joined.excerpt(index))
  for (const { index, decoders } of [...base64Runs(joined.text), ...hexRuns(joined.normalized)]) {
    for (const decode of decoders) {
      const text = decode()
      const match = command.exec(text)
      if (match === null && isProse(text) && encoded < maxEncoded) {
        encoded += 1
        if (!addressesModel(text)) continue
        const description = 'contains an encoded instruction'
        findings.push(findingOf('hidden', { path: joined.pathAt(index), excerpt: `decoded: ${text.slice(0, 150)}`, description }))
        break
      }
      if (match === null || !isReadable(text, match.index)) continue
      add(index, `decoded: ${text.slice(Math.max(0, match.index - 10), match.index + 150)}`)
      break
    }
  }
  return findings
}

interface Run {
  readonly index: number
  readonly decoders: readonly (() => string)[]
}

/** Joins runs on consecutive lines. Tries all four alignments, because other characters may precede the data. */
function base64Runs(text: string): readonly Run[] {
  const runs: { index: number; end: number; digits: string }[] = []
  for (const { index, 0: digits } of text.matchAll(base64Run)) {
    const last = runs.at(-1)
    const isNext = last !== undefined && index - last.end === 1 && /\s/u.test(text[last.end] ?? '')
    if (isNext) Object.assign(last, { end: index + digits.length, digits: last.digits + digits })
    else runs.push({ index, end: index + digits.length, digits })
  }
  return runs
    .filter(({ digits }) => isMixed.test(digits))
    .map(({ index, digits }) => ({
      index,
      decoders: [0, 1, 2, 3].map((skip) => () => Buffer.from(digits.slice(skip), 'base64').toString('latin1')),
    }))
}

function hexRuns(text: string): readonly Run[] {
  const runs: Run[] = []
  for (const { index, 0: run } of text.matchAll(hexRun)) {
    const digits = run.replaceAll(/\\x|[\s:,]/giu, '')
    if (digits.length < minHexLength && !run.startsWith('\\x')) continue
    runs.push({ index, decoders: [0, 1].map((skip) => () => Buffer.from(digits.slice(skip), 'hex').toString('latin1')) })
  }
  return runs
}

const isProse = (text: string): boolean => text.length <= maxEncodedLength && /^[\t\n\r -~]*$/.test(text) && text.includes(' ')

function addressesModel(text: string): boolean {
  const lower = text.toLowerCase()
  return phrasesIn({ lower, normalized: lower }).length > 0
}

/** Excludes binary data that spells a command by chance. */
function isReadable(text: string, index: number): boolean {
  const context = text.slice(Math.max(0, index - 8), index + 24)
  return context.replaceAll(/[\t\n\r -~]/gu, '').length <= 1
}
