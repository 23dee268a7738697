import { inspect, scanDefinition, scanTexts, secretFormatsIn, ToolMentions } from '@unfold-mcp/gateway/checks'
import { lookAlikeTexts, secretTexts } from './secrets.ts'
import { attacks, type Half, harmlessTexts, type Kind, type Sample } from './sets.ts'

/** Number of texts in a set that were reported. */
export interface Count {
  readonly texts: number
  readonly reported: number
}

const mentions = new ToolMentions()
mentions.add('mine', 'mine', ['lookup'])
mentions.add('github', 'github', ['create_issue', 'search_code'])
mentions.add('mail', 'mail', ['send_email'])
mentions.add('files', 'files', ['read_file', 'write_file'])

/** Rules that report a text, each once. */
function rulesIn({ kind, text }: Pick<Sample, 'kind' | 'text'>): ReadonlySet<string> {
  if (kind === 'results') return new Set(scanTexts([{ text, path: () => 'text' }]).map(({ rule }) => rule))
  const { findings, instructions } = scanDefinition({ description: text })
  const shadowing = instructions.flatMap((instruction) => mentions.finding('mine', instruction) ?? [])
  return new Set([...findings, ...shadowing].map(({ rule }) => rule))
}

const countOf = (samples: readonly Sample[]): Count => ({
  texts: samples.length,
  reported: samples.filter((sample) => rulesIn(sample).size > 0).length,
})

export interface Detection {
  readonly kind: Kind
  readonly half: Half
  readonly attacks: Count
  readonly harmless: Count
}

export function measureDetection(): readonly Detection[] {
  const [bad, good] = [attacks(), harmlessTexts()]
  return (['definitions', 'results'] as const).flatMap((kind) =>
    (['tuning', 'held-out', 'fresh'] as const).map((half) => {
      const isSelected = (sample: Sample): boolean => sample.kind === kind && sample.half === half
      return { kind, half, attacks: countOf(bad.filter(isSelected)), harmless: countOf(good.filter(isSelected)) }
    }),
  )
}

/** Recall and false alarms by language, of both halves and of the fresh attacks. */
export function measureLanguages(): readonly { readonly language: string; readonly attacks: Count; readonly harmless: Count }[] {
  const [bad, good] = [attacks(), harmlessTexts()]
  const languages = [...new Set([...bad, ...good].map(({ language }) => language))].toSorted()
  return languages.map((language) => {
    const isSelected = (sample: Sample): boolean => sample.language === language
    return { language, attacks: countOf(bad.filter(isSelected)), harmless: countOf(good.filter(isSelected)) }
  })
}

/** How often each rule reports attacks and harmless texts. */
export function measureRules(): readonly { readonly rule: string; readonly attacks: number; readonly harmless: number }[] {
  const counts = new Map<string, { attacks: number; harmless: number }>()
  for (const [key, samples] of [
    ['attacks', attacks()],
    ['harmless', harmlessTexts()],
  ] as const)
    for (const sample of samples)
      for (const rule of rulesIn(sample)) {
        const count = counts.get(rule) ?? { attacks: 0, harmless: 0 }
        count[key] += 1
        counts.set(rule, count)
      }
  return [...counts].map(([rule, count]) => ({ rule, ...count })).toSorted((a, b) => b.attacks - a.attacks)
}

/** Recall by format, and false alarms among texts that look like secrets and among all harmless texts. */
export function measureSecrets() {
  const hasSecret = (text: string): boolean => secretFormatsIn(text).length > 0
  const texts = secretTexts()
  const formats = [...new Set(texts.map(({ format }) => format))].map((format) => {
    const own = texts.filter((each) => each.format === format)
    return { format, texts: own.length, reported: own.filter(({ text }) => hasSecret(text)).length }
  })
  const others = [...lookAlikeTexts(), ...harmlessTexts().map(({ text }) => text)]
  return { formats, harmless: { texts: others.length, reported: others.filter(hasSecret).length } }
}

// Repeated to the length that is scanned of one result.
const scannedLength = 262_144
const patterns: Readonly<Record<string, string>> = {
  'one letter': 'a',
  'start of a phrase': 'include all ',
  'German start of a phrase': 'gib alle nachricht ',
  'Chinese start of a phrase': '用户',
  'spelled letters': 'a b ',
  'start of a JWT': 'eyJ ',
  'start of a key': '-----BEGIN PRIVATE KEY-----',
  'start of a URL': `http://${'a'.repeat(250)}`,
  'file with secrets': ' .ssh/ ',
}

/** CPU time to inspect a result of the maximum scanned length, for ordinary text and for the slowest known patterns. */
export async function measureSpeed(): Promise<
  readonly { readonly text: string; readonly ms: number; readonly mbPerSecond: number }[]
> {
  const ordinary = harmlessTexts()
    .filter(({ kind, language }) => kind === 'results' && language === 'en')
    .map(({ text }) => text)
    .join('\n')
  const texts = [['ordinary results', ordinary] as const, ...Object.entries(patterns)].map(
    ([name, part]) => [name, part.repeat(Math.ceil(scannedLength / part.length)).slice(0, scannedLength)] as const,
  )
  const speeds = []
  for (const [text, content] of texts) {
    const once = () =>
      inspect({ content: [{ type: 'text', text: content }] }, { instructions: 'flag', secrets: 'mask' }, () => [])
    await once()
    const start = process.cpuUsage()
    await once()
    const { user, system } = process.cpuUsage(start)
    const ms = (user + system) / 1_000
    speeds.push({ text, ms, mbPerSecond: scannedLength / 1_000 / ms })
  }
  return speeds
}
