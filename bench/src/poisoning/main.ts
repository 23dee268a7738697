// npm run bench -- poisoning [--json]
// Counts false alarms on the real catalogues in $UNFOLD_DATA too, if there are any.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { scanDefinition } from '@unfold-mcp/gateway/checks'
import { type Count, measureDetection, measureLanguages, measureRules, measureSecrets, measureSpeed } from './measure.ts'

const { json = false } = parseArgs({ options: { json: { type: 'boolean' } } }).values

const detection = measureDetection()
const results = {
  detection,
  rules: measureRules(),
  languages: measureLanguages(),
  secrets: measureSecrets(),
  catalogues: catalogues(process.env.UNFOLD_DATA ?? fileURLToPath(new URL('../../../../shared/data/retrieval', import.meta.url))),
  speed: await measureSpeed(),
}

if (json) console.log(JSON.stringify(results, undefined, 2))
else print()

// A false alarm about a definition holds a tool, so precision has a target too.
const heldOut = detection.find(({ kind, half }) => kind === 'definitions' && half === 'held-out')
if (heldOut !== undefined && (share(heldOut.harmless) > 0.005 || share(heldOut.attacks) < 0.6)) process.exitCode = 1

function print(): void {
  console.log('Attacks found and false alarms. Rules were tuned with one half; fresh attacks were written after the rules.')
  for (const { kind, half, attacks, harmless } of detection)
    console.log(
      `  ${kind.padEnd(12)}${half.padEnd(10)}attacks ${ratio(attacks)}${harmless.texts === 0 ? '' : `  false alarms ${ratio(harmless)}`}`,
    )
  console.log('\nBy rule: attacks, harmless texts')
  for (const { rule, attacks, harmless } of results.rules)
    console.log(`  ${rule.padEnd(12)}${String(attacks).padStart(5)}${String(harmless).padStart(5)}`)
  console.log('\nBy language')
  for (const { language, attacks, harmless } of results.languages)
    console.log(
      `  ${language.padEnd(12)}attacks ${ratio(attacks)}${harmless.texts === 0 ? '' : `  false alarms ${ratio(harmless)}`}`,
    )
  console.log('\nSecrets by format')
  for (const { format, ...count } of results.secrets.formats) console.log(`  ${format.padEnd(28)}${ratio(count)}`)
  console.log(`  ${'false alarms'.padEnd(28)}${ratio(results.secrets.harmless)}`)
  if (results.catalogues.length > 0) console.log('\nFalse alarms on real catalogues')
  for (const { name, ...count } of results.catalogues) console.log(`  ${name.padEnd(16)}${ratio(count)}`)
  console.log('\nCPU time to inspect 262,144 characters')
  for (const { text, ms, mbPerSecond } of results.speed)
    console.log(`  ${text.padEnd(28)}${ms.toFixed(0).padStart(5)} ms  ${mbPerSecond.toFixed(1).padStart(6)} MB/s`)
}

function share({ texts, reported }: Count): number {
  return texts === 0 ? 0 : reported / texts
}

function ratio(count: Count): string {
  const { texts, reported } = count
  return `${String(reported).padStart(4)} of ${String(texts).padEnd(5)} (${(share(count) * 100).toFixed(1)} %)`
}

/** Definitions that would hold a tool. They are counted as false alarms, because the catalogues are of ordinary servers. */
function catalogues(folder: string): readonly (Count & { readonly name: string })[] {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter((file) => file.endsWith('.tools.json'))
  return files.map((file) => {
    const tools = JSON.parse(readFileSync(join(folder, file), 'utf8')) as readonly object[]
    const isReported = (tool: object): boolean =>
      scanDefinition(tool).findings.some(({ rule }) => rule !== 'reference' && rule !== 'payload')
    return { name: file.replace('.tools.json', ''), texts: tools.length, reported: tools.filter(isReported).length }
  })
}
