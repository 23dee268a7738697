import { type Finding, findingOf } from './finding.ts'
import type { JoinedText } from './joined-text.ts'

const minHexLength = 24
// Names and paths are not; encoded text is.
const isMixed = /[A-Z][^A-Z]*[A-Z]/

const base64Run = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}/g
const hexRun = /(?:\\x[0-9a-f]{2}){8,}|(?<![0-9a-f])(?:[0-9a-f]{2}[\s:,]){11,}[0-9a-f]{2}|(?<![0-9a-f])[0-9a-f]{24,}/g

// A command that fetches, opens or runs something.
const command =
  /\b(?:curl|wget)\s[^\n]{0,200}?(?:https?:|\||-o\s)|\b(?:ba|z|da)?sh\s+-[ci]\b|\/dev\/tcp\/|\bnc(?:at)?\s+-|\b(?:python|perl|ruby|node|php)[\d.]*\s+-[cer]\b|\bpowershell\b|\biex\s*\(|\binvoke-(?:expression|webrequest)|\brm\s+-(?:rf|fr)\b|\bchmod\s+\+x|\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\bos\.system\(|\bchild_process\b/i
const pipe =
  /\b(?:curl|wget)\s[^\0\n|]{0,300}\|\s?(?:sudo\s)?(?:ba|z|da)?sh\b|\bbase64\s(?:-d|--decode)\s?\|\s?(?:ba|z|da)?sh\b|\bbash\s-i\s>&|\/dev\/tcp\/\d/g

/** Where a text holds a command for a shell: encoded, or one that runs what it fetches. */
export function payloadFindings(reading: JoinedText): readonly Finding[] {
  const found: Finding[] = []
  const add = (place: number, excerpt: string): void => {
    found.push(findingOf('payload', { surface: reading.surfaceAt(place), excerpt }))
  }
  for (const { index } of [...reading.words.matchAll(pipe)].slice(0, 100)) add(index, reading.excerpt(index))
  for (const { place, texts } of [...base64Runs(reading.shown), ...hexRuns(reading.words)]) {
    for (const decode of texts) {
      const text = decode()
      const match = command.exec(text)
      if (match === null || !isReadable(text, match.index)) continue
      add(place, `decoded: ${text.slice(Math.max(0, match.index - 10), match.index + 150)}`)
      break
    }
  }
  return found
}

interface Run {
  readonly place: number
  readonly texts: readonly (() => string)[]
}

/** Runs on lines that follow each other are one. Where a run begins is not known for sure: something may stand before it. */
function base64Runs(text: string): readonly Run[] {
  const runs: { place: number; end: number; digits: string }[] = []
  for (const { index, 0: digits } of text.matchAll(base64Run)) {
    const last = runs.at(-1)
    const isNext = last !== undefined && index - last.end === 1 && /\s/u.test(text[last.end] ?? '')
    if (isNext) Object.assign(last, { end: index + digits.length, digits: last.digits + digits })
    else runs.push({ place: index, end: index + digits.length, digits })
  }
  return runs
    .filter(({ digits }) => isMixed.test(digits))
    .map(({ place, digits }) => ({
      place,
      texts: [0, 1, 2, 3].map((skip) => () => Buffer.from(digits.slice(skip), 'base64').toString('latin1')),
    }))
}

function hexRuns(text: string): readonly Run[] {
  const runs: Run[] = []
  for (const { index, 0: run } of text.matchAll(hexRun)) {
    const digits = run.replaceAll(/\\x|[\s:,]/giu, '')
    if (digits.length < minHexLength && !run.startsWith('\\x')) continue
    runs.push({ place: index, texts: [0, 1].map((skip) => () => Buffer.from(digits.slice(skip), 'hex').toString('latin1')) })
  }
  return runs
}

/** Whether it is text around there: bytes that happen to spell a command are not. */
function isReadable(text: string, place: number): boolean {
  const nearby = text.slice(Math.max(0, place - 8), place + 24)
  return nearby.replaceAll(/[\t\n\r -~]/gu, '').length <= 1
}
