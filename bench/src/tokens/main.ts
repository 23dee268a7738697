// npm run bench -- tokens [--quick] [--json] [--write <file>]
// Reads real catalogues from $UNFOLD_DATA, or from shared/data/retrieval next to this repository.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cataloguesIn } from './catalogues.ts'
import { type Measured, measured } from './measure.ts'
import { appendixOf, replyTarget, reportOf } from './report.ts'

const options = { quick: { type: 'boolean' }, json: { type: 'boolean' }, write: { type: 'string' } } as const
const { quick = false, json = false, write } = parseArgs({ options }).values
const folder = process.env.UNFOLD_DATA ?? fileURLToPath(new URL('../../../../shared/data/retrieval', import.meta.url))
const names = quick ? ['toolalpaca', 'livemcp'] : ['toolalpaca', 'metatool', 'livemcp', 'docker', 'bfcl', 'sealtools', 'toucan']

const catalogues = cataloguesIn(folder, names)
if (catalogues.length === 0) {
  console.error(
    'Nothing measured: no catalogues found. Set UNFOLD_DATA to a folder with <set>.tools.json and <set>.queries.json.',
  )
} else {
  const results: Measured[] = []
  for (const catalogue of catalogues) results.push(await measured(catalogue, quick ? 10 : 50))
  const live = results.find(({ name }) => name === 'livemcp')
  console.error(`\n${reportOf(results)}\n\n${appendixOf(results)}\n`)
  if (live !== undefined) {
    const verdict = live.reply.text <= replyTarget ? 'met' : 'MISSED'
    console.error(
      `${verdict} search_tools on livemcp: median of ${live.reply.text} tokens for five matches (limit: ${replyTarget})`,
    )
    if (live.reply.text > replyTarget) process.exitCode = 1
  }
  if (write !== undefined) writeFileSync(write, `${reportOf(results)}\n`)
  if (json) console.log(JSON.stringify(results, undefined, 2))
}
